// SPDX-License-Identifier: Apache-2.0

// The party callers/go.sh: Go's own net/http, which chooses HTTP/2 by ALPN, and
// golang.org/x/net/http2 with prior knowledge.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

const noWake = "00000000-0000-7000-8000-000000000000"

// A caller of one gateway.
type caller struct {
	name, base string
	client     *http.Client
}

// An answer of the gateway: its status, and of its JSON what is looked at.
type answer struct {
	status  int
	proto   string
	problem bool
	content struct {
		ID, State, Code  string
		Status, Accepted int
	}
}

func callers() []caller {
	pem, err := os.ReadFile(os.Getenv("INTEROP_GATEWAY_CA"))
	if err != nil {
		panic(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	alpn := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true,
	}
	known := &http2.Transport{
		AllowHTTP:                  true,
		StrictMaxConcurrentStreams: true,
		DialTLS: func(network, address string, _ *tls.Config) (net.Conn, error) {
			return net.Dial(network, address)
		},
	}
	limit := 20 * time.Second
	return []caller{
		{"h2", os.Getenv("INTEROP_GATEWAY"), &http.Client{Transport: alpn, Timeout: limit}},
		{"h2c", os.Getenv("INTEROP_GATEWAY_PLAIN"), &http.Client{Transport: known, Timeout: limit}},
	}
}

func (c caller) call(method string, path string, body []byte, key string) answer {
	var result answer
	request, err := http.NewRequest(method, c.base+path, bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	request.Header.Set("authorization", "Bearer "+key)
	request.Header.Set("content-type", "application/json")
	response, err := c.client.Do(request)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return result
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil {
		err = json.Unmarshal(text, &result.content)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	result.status = response.StatusCode
	result.proto = response.Proto
	result.problem = response.Header.Get("content-type") == "application/problem+json"
	return result
}

func wake(number int) []byte {
	return []byte(fmt.Sprintf(`{"kind":"background","app":"com.example.app","ttl_seconds":3600,`+
		`"device_token":"%s%016x","payload":{"aps":{"content-available":1},"version":%d}}`,
		os.Getenv("INTEROP_DEVICES"), number, number))
}

func (c caller) check(name string, found any, wanted any) {
	if found != wanted {
		fmt.Fprintf(os.Stderr, "%s %s: %v instead of %v\n", c.name, name, found, wanted)
		os.Exit(1)
	}
}

func main() {
	key := os.Getenv("INTEROP_GATEWAY_KEY")
	for _, c := range callers() {
		before := c.call("GET", "/v1/stats", nil, key).content.Accepted
		one := c.call("POST", "/v1/wakes?wait=outcome", wake(0), key)
		c.check("200", fmt.Sprintf("%s %d %s", one.proto, one.status, one.content.State), "HTTP/2.0 200 sent")
		found := c.call("GET", "/v1/wakes/"+one.content.ID, nil, key)
		c.check("found", found.content.ID+" "+found.content.State, one.content.ID+" sent")
		answers := make([]answer, 500)
		var group sync.WaitGroup
		for n := range answers {
			group.Add(1)
			go func(n int) {
				defer group.Done()
				answers[n] = c.call("POST", "/v1/wakes", wake(n+1), key)
			}(n)
		}
		group.Wait()
		ids := map[string]bool{}
		for _, each := range answers {
			c.check("500 at once", fmt.Sprintf("%s %d", each.proto, each.status), "HTTP/2.0 202")
			ids[each.content.ID] = true
		}
		c.check("ids", len(ids), len(answers))
		large := bytes.Repeat([]byte(" "), 1_000_000)
		for _, problem := range []struct {
			status             int
			code, method, path string
			body               []byte
			key                string
		}{
			{400, "malformed-body", "POST", "/v1/wakes", []byte("{"), key},
			{401, "unauthorized", "POST", "/v1/wakes", wake(0), "wrong"},
			{404, "not-found", "GET", "/v1/wakes/" + noWake, nil, key},
			{413, "body-too-large", "POST", "/v1/wakes", large, key},
		} {
			each := c.call(problem.method, problem.path, problem.body, problem.key)
			c.check(problem.code,
				fmt.Sprintf("%d %d %s %t", each.status, each.content.Status, each.content.Code, each.problem),
				fmt.Sprintf("%d %d %s true", problem.status, problem.status, problem.code))
		}
		after := c.call("GET", "/v1/stats", nil, key).content.Accepted
		c.check("counted", after-before, len(answers)+1)
	}
	fmt.Printf("%s, h2 by net/http, h2c by golang.org/x/net/http2: 200, 500 at once, 400, 401, 404, 413\n",
		runtime.Version())
}
