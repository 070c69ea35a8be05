// SPDX-License-Identifier: Apache-2.0

// Wakes an app on one device, and prints what became of it. Go 1.19 or later, nothing else.
//
//	go run main.go DEVICE_TOKEN
//
// ROUSE_GATEWAY is the gateway's URL, ROUSE_API_KEY a key with the scope wake, ROUSE_APP the app's
// bundle id. With `rouse serve --dev` none of them is needed.
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const maximumTries = 5

// Answer is what this program reads of a wake.
type Answer struct {
	ID       string
	Decision struct{ Message string }
	Outcome  *struct{ Explanation string }
}

// Problem is an error of the gateway, a problem document (RFC 9457). Asking again would not help.
type Problem struct {
	Status              int
	Code, Title, Detail string
	Diagnostics         []struct{ Rule, Message, Fix string }
}

func (problem *Problem) Error() string {
	text := problem.Detail
	if text == "" {
		text = problem.Title
	}
	text = fmt.Sprintf("%d %s: %s", problem.Status, problem.Code, text)
	for _, finding := range problem.Diagnostics {
		text += fmt.Sprintf("\n  %s %s. %s", finding.Rule, finding.Message, finding.Fix)
	}
	return text
}

// Wake asks for a silent push, and returns the wake with its outcome where there was one in time.
func Wake(deviceToken string, data map[string]any, timeToLive time.Duration) (*Answer, error) {
	ref := newUUID()
	// A hint and no content. The app's receipt names the wake by the ref.
	payload := map[string]any{"aps": map[string]any{"content-available": 1}, "ref": ref}
	for name, value := range data {
		payload[name] = value
	}
	body, err := json.Marshal(map[string]any{
		"kind": "background", "app": setting("ROUSE_APP", "com.example.demo"),
		"device_token": deviceToken, "ref": ref, "payload": payload,
		"ttl_seconds": int(timeToLive.Seconds()),
	})
	if err != nil {
		return nil, err
	}
	for left := maximumTries - 1; ; left-- {
		answer, pause, err := ask(body, ref)
		// Without a pause the error is final. After one that has a pause the wake may be on disk,
		// or not.
		if err == nil || pause == 0 || left == 0 {
			return answer, err
		}
		time.Sleep(pause)
	}
}

// ask posts a wake once. With an error comes how long to wait before trying again, or nothing.
func ask(body []byte, idempotencyKey string) (*Answer, time.Duration, error) {
	address := setting("ROUSE_GATEWAY", "http://127.0.0.1:8080") + "/v1/wakes?wait=outcome&timeout=10"
	request, err := http.NewRequest(http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	// The key makes trying again safe: it is one wake, however often it is asked for.
	request.Header.Set("Idempotency-Key", idempotencyKey)
	if key := strings.TrimSpace(os.Getenv("ROUSE_API_KEY")); key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	client := http.Client{Timeout: 30 * time.Second}
	response, err := client.Do(request)
	if err != nil {
		return nil, time.Second, err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK || response.StatusCode == http.StatusAccepted {
		answer := new(Answer)
		return answer, time.Second, json.NewDecoder(response.Body).Decode(answer)
	}
	problem := new(Problem)
	if err := json.NewDecoder(response.Body).Decode(problem); err != nil {
		return nil, time.Second, err
	}
	if problem.Status != http.StatusTooManyRequests && problem.Status != http.StatusServiceUnavailable {
		return nil, 0, problem
	}
	seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		seconds = 1
	}
	return nil, time.Duration(seconds) * time.Second, problem
}

func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

// newUUID returns a random UUID (RFC 9562, version 4).
func newUUID() string {
	var bytes [16]byte
	if _, err := rand.Read(bytes[:]); err != nil {
		panic(err)
	}
	bytes[6], bytes[8] = bytes[6]&0x0f|0x40, bytes[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", bytes[:4], bytes[4:6], bytes[6:8], bytes[8:10], bytes[10:])
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run main.go DEVICE_TOKEN")
		os.Exit(64)
	}
	answer, err := Wake(os.Args[1], map[string]any{"version": 7}, time.Hour)
	var problem *Problem
	if errors.As(err, &problem) {
		fmt.Fprintln(os.Stderr, problem)
		os.Exit(1)
	} else if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(69)
	}
	if answer.Outcome != nil {
		fmt.Println(answer.ID, answer.Outcome.Explanation)
	} else {
		fmt.Println(answer.ID, answer.Decision.Message)
	}
}
