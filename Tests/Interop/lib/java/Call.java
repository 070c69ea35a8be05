// SPDX-License-Identifier: Apache-2.0

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** The party callers/java.sh: the HttpClient of Java's own library calls the gateway. */
public final class Call {
    /** The most requests that the gateway takes at a time on one connection; beyond it Java fails. */
    private static final int MANY = 250;

    private static final String KEY = env("GATEWAY_KEY");

    private static String env(String name) {
        return System.getenv("INTEROP_" + name);
    }

    private static HttpClient client() throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null);
        try (var file = Files.newInputStream(Path.of(env("GATEWAY_CA")))) {
            store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(null, trust.getTrustManagers(), null);
        return HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).sslContext(tls)
                .connectTimeout(Duration.ofSeconds(10)).build();
    }

    private static String wake(int number) {
        return String.format("{\"kind\":\"background\",\"app\":\"com.example.app\",\"ttl_seconds\":3600,"
                + "\"device_token\":\"%s%016x\",\"payload\":{\"aps\":{\"content-available\":1},\"version\":%d}}",
                env("DEVICES"), number, number);
    }

    /** Sends a request; GET without a body. */
    private static CompletableFuture<HttpResponse<String>> call(
            HttpClient client, String base, String path, String body, String key) {
        HttpRequest.Builder request = HttpRequest.newBuilder().uri(URI.create(base + path))
                .timeout(Duration.ofSeconds(20)).header("authorization", "Bearer " + key)
                .header("content-type", "application/json");
        if (body != null) {
            request.POST(HttpRequest.BodyPublishers.ofString(body));
        }
        return client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static String text(HttpResponse<String> answer) {
        return answer.version() + " " + answer.statusCode();
    }

    /** A member of an answer that is a text or a number, the first of this name. */
    private static String member(String name, HttpResponse<String> answer) {
        Matcher matcher = Pattern.compile("\"" + name + "\":\"?([^\",}]*)").matcher(answer.body());
        return matcher.find() ? matcher.group(1) : "none";
    }

    private static int accepted(HttpClient client, String base) throws Exception {
        return Integer.parseInt(member("accepted", call(client, base, "/v1/stats", null, KEY).get()));
    }

    private static void check(String name, Object found, Object wanted) {
        if (!found.equals(wanted)) {
            System.err.println(name + ": " + found + " instead of " + wanted);
            System.exit(1);
        }
    }

    private static void calls(String base, String version) throws Exception {
        HttpClient client = client();
        int before = accepted(client, base);
        HttpResponse<String> one = call(client, base, "/v1/wakes?wait=outcome", wake(0), KEY).get();
        check("200", text(one) + " " + member("state", one), version + " 200 sent");
        String id = member("id", one);
        HttpResponse<String> found = call(client, base, "/v1/wakes/" + id, null, KEY).get();
        check("found", member("id", found), id);

        List<CompletableFuture<HttpResponse<String>>> many = new ArrayList<>();
        for (int n = 1; n <= MANY; n++) {
            many.add(call(client, base, "/v1/wakes", wake(n), KEY));
        }
        Set<String> ids = new HashSet<>();
        for (CompletableFuture<HttpResponse<String>> each : many) {
            check("at once", text(each.get()), version + " 202");
            ids.add(member("id", each.get()));
        }
        check("ids", ids.size(), MANY);

        problem(client, base, version, 400, "malformed-body", "/v1/wakes", "{", KEY);
        problem(client, base, version, 401, "unauthorized", "/v1/wakes", wake(0), "wrong");
        problem(client, base, version, 404, "not-found",
                "/v1/wakes/00000000-0000-7000-8000-000000000000", null, KEY);
        problem(client, base, version, 413, "body-too-large", "/v1/wakes", " ".repeat(1_000_000), KEY);
        check("counted", accepted(client, base) - before, MANY + 1);
    }

    private static void problem(HttpClient client, String base, String version, int status, String code,
            String path, String body, String key) throws Exception {
        HttpResponse<String> answer = call(client, base, path, body, key).get();
        check(code, text(answer) + " " + member("status", answer) + " " + member("code", answer)
                + " " + answer.headers().firstValue("content-type").orElse("none"),
                version + " " + status + " " + status + " " + code + " application/problem+json");
    }

    public static void main(String[] arguments) throws Exception {
        calls(env("GATEWAY"), "HTTP_2");
        calls(env("GATEWAY_PLAIN"), "HTTP_1_1");
        System.out.println("Java " + Runtime.version() + ", h2 and HTTP/1.1: 200, " + MANY
                + " at once, 400, 401, 404, 413");
        System.exit(0);
    }
}
