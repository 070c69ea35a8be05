// SPDX-License-Identifier: Apache-2.0

#include "CCurlCalls.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct CCurlCaller {
    CURL *easy;
    struct curl_slist *headers;
    uint8_t *body;
    size_t bodyLength;
    size_t bodyRoom;
    size_t limit;
    bool isTooLarge;
    char error[CURL_ERROR_SIZE];
};

CCurlCaller *CCurlCaller_create(void) {
    CCurlCaller *caller = calloc(1, sizeof *caller);
    if (!caller) return NULL;
    caller->easy = curl_easy_init();
    if (!caller->easy) {
        free(caller);
        return NULL;
    }
    return caller;
}

void CCurlCaller_clear_headers(CCurlCaller *caller) {
    for (struct curl_slist *node = caller->headers; node; node = node->next)
        OPENSSL_cleanse(node->data, strlen(node->data));  // may contain the authorization
    curl_slist_free_all(caller->headers);
    caller->headers = NULL;
}

void CCurlCaller_destroy(CCurlCaller *caller) {
    curl_easy_cleanup(caller->easy);
    CCurlCaller_clear_headers(caller);
    free(caller->body);
    free(caller);
}

bool CCurlCaller_append_header(CCurlCaller *caller, const char *line) {
    struct curl_slist *lines = curl_slist_append(caller->headers, line);
    if (!lines) return false;
    caller->headers = lines;
    return true;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context) {
    CCurlCaller *caller = context;
    size_t length = size * count;
    if (length > caller->limit - caller->bodyLength) {
        caller->isTooLarge = true;
        return 0;
    }
    if (length > caller->bodyRoom - caller->bodyLength) {
        size_t room = 2 * (caller->bodyLength + length);
        uint8_t *body = realloc(caller->body, room);
        if (!body) return 0;
        caller->body = body;
        caller->bodyRoom = room;
    }
    memcpy(caller->body + caller->bodyLength, bytes, length);
    caller->bodyLength += length;
    return length;
}

static void set_request(CCurlCaller *caller, const CCurlCall *call) {
    CURL *easy = caller->easy;
    curl_easy_setopt(easy, CURLOPT_URL, call->url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call->method);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, caller->headers);
    // A POST of bytes that outlive the call. GET and DELETE have no body.
    if (call->body) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, (const char *)call->body);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->bodyLength);
    }
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, caller);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, caller->error);
}

static bool is_loopback_host(const char *host) {
    char text[INET6_ADDRSTRLEN + 2];
    struct in_addr v4;
    struct in6_addr v6;
    size_t length = strlen(host);
    // libcurl normalizes every notation of an IPv4 address to four decimal numbers. The unspecified
    // address reaches this machine too.
    if (inet_pton(AF_INET, host, &v4) == 1)
        return v4.s_addr == 0 || ntohl(v4.s_addr) >> 24 == 127;
    if (host[0] == '[') {
        size_t end = strcspn(host, "]%");
        if (end < 2 || end > INET6_ADDRSTRLEN) return false;
        memcpy(text, host + 1, end - 1);
        text[end - 1] = '\0';
        if (inet_pton(AF_INET6, text, &v6) != 1) return false;
        return IN6_IS_ADDR_LOOPBACK(&v6) || IN6_IS_ADDR_UNSPECIFIED(&v6)
            || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
    }
    if (length > 0 && host[length - 1] == '.') length--;
    static const char name[] = "localhost";
    size_t nameLength = sizeof name - 1;
    return length >= nameLength && strncasecmp(host + length - nameLength, name, nameLength) == 0
        && (length == nameLength || host[length - nameLength - 1] == '.');
}

bool CCurl_is_loopback(const char *url) {
    CURLU *parts = curl_url();
    char *host = NULL;
    bool isLoopback = parts && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK
        && curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK && is_loopback_host(host);
    curl_free(host);
    curl_url_cleanup(parts);
    return isLoopback;
}

static void set_connection(CURL *easy, const CCurlCall *call) {
    if (CCurl_is_loopback(call->url)) curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)call->connectTimeoutMilliseconds);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)call->timeoutMilliseconds);
    if (call->unixSocket) curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, call->unixSocket);
    if (call->certificateAuthorityFile) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, call->certificateAuthorityFile);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
}

CCurlAnswer CCurlCaller_call(CCurlCaller *caller, const CCurlCall *call) {
    // Resets the options and keeps open connections.
    curl_easy_reset(caller->easy);
    caller->bodyLength = 0;
    caller->limit = call->answerLimit;
    caller->isTooLarge = false;
    caller->error[0] = '\0';
    set_request(caller, call);
    set_connection(caller->easy, call);
    CURLcode code = curl_easy_perform(caller->easy);
    long status = 0;
    long sentLength = 0;
    curl_off_t retryAfter = 0;
    const char *redirectURL = NULL;
    curl_easy_getinfo(caller->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(caller->easy, CURLINFO_REQUEST_SIZE, &sentLength);
    curl_easy_getinfo(caller->easy, CURLINFO_RETRY_AFTER, &retryAfter);
    curl_easy_getinfo(caller->easy, CURLINFO_REDIRECT_URL, &redirectURL);
    return (CCurlAnswer){
        .code = (int32_t)code,
        .status = status,
        .retryAfterSeconds = retryAfter,
        .redirectURL = redirectURL,
        .isTooLarge = caller->isTooLarge,
        .isSent = sentLength > 0,
        .error = caller->error[0] ? caller->error : curl_easy_strerror(code),
        .body = caller->body,
        .bodyLength = caller->bodyLength,
    };
}
