// SPDX-License-Identifier: Apache-2.0

// The server of the party servers/go.py: net/http with its own HTTP/2. It answers some requests
// without reading their body, and ends each connection after 50 requests.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

type counter struct{}

func main() {
	log, err := os.OpenFile(os.Getenv("INTEROP_LOG"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	handler := func(writer http.ResponseWriter, request *http.Request) {
		token := request.URL.Path[strings.LastIndex(request.URL.Path, "/")+1:]
		if !strings.HasPrefix(token, "ea") {
			io.Copy(io.Discard, request.Body)
		}
		if atomic.AddInt64(request.Context().Value(counter{}).(*int64), 1) == 50 {
			// In HTTP/2 it becomes a GOAWAY.
			writer.Header().Set("Connection", "close")
		}
		id, status, body := request.Header.Get("apns-id"), 200, ""
		if strings.HasPrefix(token, "bad0") {
			status, body = 400, `{"reason":"BadDeviceToken"}`
		} else if strings.HasPrefix(token, "dead") {
			status, body = 410, `{"reason":"Unregistered","timestamp":1700000000000}`
		}
		fmt.Fprintf(log, "%s %d\n", id, status)
		writer.Header().Set("apns-id", id)
		writer.WriteHeader(status)
		io.WriteString(writer, body)
	}
	server := &http.Server{
		Addr:    "127.0.0.1:" + os.Getenv("INTEROP_SERVER_PORT"),
		Handler: http.HandlerFunc(handler),
		ConnContext: func(parent context.Context, connection net.Conn) context.Context {
			return context.WithValue(parent, counter{}, new(int64))
		},
	}
	ended := make(chan struct{})
	go func() {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		<-signals
		limit, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		server.Shutdown(limit)
		close(ended)
	}()
	err = server.ListenAndServeTLS(
		os.Getenv("INTEROP_SERVER_CERTIFICATE"), os.Getenv("INTEROP_SERVER_KEY"))
	if err != http.ErrServerClosed {
		panic(err)
	}
	<-ended
}
