// SPDX-License-Identifier: Apache-2.0

// The party clients/go.sh: golang.org/x/net/http2, on which clients for APNs in Go stand.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

func client() *http.Client {
	pem, err := os.ReadFile(os.Getenv("INTEROP_CA"))
	if err != nil {
		panic(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	// Strict: it waits for a stream where the server's limit is reached.
	transport := &http2.Transport{
		TLSClientConfig:            &tls.Config{RootCAs: roots},
		StrictMaxConcurrentStreams: true,
	}
	return &http.Client{Transport: transport, Timeout: 20 * time.Second}
}

func push(client *http.Client, token string, device string, body []byte) string {
	url := "https://localhost:" + os.Getenv("INTEROP_PORT") + "/3/device/" + device
	request, err := http.NewRequest("POST", url, bytes.NewReader(body))
	if err != nil {
		return err.Error()
	}
	request.Header.Set("authorization", "bearer "+token)
	request.Header.Set("apns-topic", "com.example.app")
	request.Header.Set("apns-push-type", "background")
	request.Header.Set("apns-priority", "5")
	answer, err := client.Do(request)
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %s", answer.StatusCode, text)
}

func check(name string, found string, wanted string) {
	if found != wanted {
		fmt.Fprintf(os.Stderr, "%s: %s instead of %s\n", name, found, wanted)
		os.Exit(1)
	}
}

func main() {
	good := []byte(`{"aps":{"content-available":1}}`)
	token := os.Getenv("INTEROP_TOKEN")
	one := client()
	check("200", push(one, token, "abcdef", good), "200 ")
	var group sync.WaitGroup
	answers := make([]string, 500)
	for n := range answers {
		group.Add(1)
		go func(n int) {
			defer group.Done()
			answers[n] = push(one, token, fmt.Sprintf("%064x", n), good)
		}(n)
	}
	group.Wait()
	for _, answer := range answers {
		check("500 at once", answer, "200 ")
	}
	check("400", push(one, token, "no-token", good), `400 {"reason":"BadDeviceToken"}`)
	large := bytes.Repeat([]byte("x"), 5000)
	check("413", push(one, token, "abcdef", large), `413 {"reason":"PayloadTooLarge"}`)
	check("403", push(client(), os.Getenv("INTEROP_FORGED_TOKEN"), "abcdef", good),
		`403 {"reason":"InvalidProviderToken"}`)
	fmt.Printf("golang.org/x/net/http2, %s: 200, 500 at once, 400, 413, 403\n", runtime.Version())
}
