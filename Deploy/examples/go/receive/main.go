// SPDX-License-Identifier: Apache-2.0

// Receives Rouse's webhooks and checks their signatures. Go 1.19 or later, nothing else.
//
//	go run main.go
//
// WEBHOOK_SECRET is the text that the gateway has in `secret-file`, PORT the port on this machine; 0
// lets the system choose. A server of your own takes Receiver.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maximumBytes = 1 << 20
	// How old, or how far ahead, a request may be. Older ones may be somebody's copy.
	tolerance = 5 * time.Minute
)

// Event is what this program reads of an event.
type Event struct {
	ID, Type string
	Wake     struct{ ID, State string }
	Feedback struct {
		DeviceToken string `json:"device_token"`
	}
}

// Receiver takes each event once. An event can come twice, so yours go into a table with a unique id.
type Receiver struct {
	Key  []byte
	lock sync.Mutex
	seen map[string]bool
}

// KeyOf returns the key that a secret stands for (Standard Webhooks 1.0).
func KeyOf(secret string) ([]byte, error) {
	text := strings.TrimSpace(secret)
	if encoded := strings.TrimPrefix(text, "whsec_"); encoded != text {
		return base64.StdEncoding.DecodeString(encoded)
	}
	return []byte(text), nil
}

// IsVerified returns whether a request comes from the gateway, whole and just now.
func IsVerified(header http.Header, body, key []byte, now time.Time) bool {
	timestamp := header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}
	digest := hmac.New(sha256.New, key)
	fmt.Fprintf(digest, "%s.%s.", header.Get("webhook-id"), timestamp)
	digest.Write(body)
	expected := "v1," + base64.StdEncoding.EncodeToString(digest.Sum(nil))
	// There may be several, while a secret is replaced. The comparison takes the same time for all.
	for _, given := range strings.Fields(header.Get("webhook-signature")) {
		if hmac.Equal([]byte(given), []byte(expected)) {
			return true
		}
	}
	return false
}

func (receiver *Receiver) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, maximumBytes))
	if err != nil {
		response.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	if !IsVerified(request.Header, body, receiver.Key, time.Now()) {
		response.WriteHeader(http.StatusUnauthorized)
		return
	}
	var batch struct{ Events []Event }
	if err := json.Unmarshal(body, &batch); err != nil {
		response.WriteHeader(http.StatusBadRequest)
		return
	}
	for _, event := range batch.Events {
		receiver.take(event)
	}
	// Any 2xx means that all were taken; anything else brings them again.
	response.WriteHeader(http.StatusNoContent)
}

func (receiver *Receiver) take(event Event) {
	receiver.lock.Lock()
	defer receiver.lock.Unlock()
	if receiver.seen[event.ID] {
		return
	}
	receiver.seen[event.ID] = true
	switch event.Type {
	case "outcome":
		fmt.Println("outcome", event.Wake.ID, event.Wake.State)
	case "token-dead":
		// Delete the token, unless the app has uploaded it again since.
		fmt.Println("token-dead", event.Feedback.DeviceToken)
	default:
		fmt.Println(event.Type)
	}
}

func main() {
	key, err := KeyOf(os.Getenv("WEBHOOK_SECRET"))
	if err != nil || len(key) < 16 {
		log.Fatal("WEBHOOK_SECRET: fewer than 16 bytes; give the gateway's secret")
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "9000"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("Listening on http://%s/\n", listener.Addr())
	server := http.Server{
		Handler: &Receiver{Key: key, seen: map[string]bool{}}, ReadTimeout: 30 * time.Second,
	}
	log.Fatal(server.Serve(listener))
}
