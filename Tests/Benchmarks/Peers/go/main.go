// SPDX-License-Identifier: Apache-2.0

// A push server as one would write it in Go with the standard library, to measure beside Rouse:
// it takes the same requests, checks the key and the payload, keeps each wake in memory, and sends
// it to APNs over HTTP/2 with a provider token. It has no budget, no store, and no retries.
package main

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	listen  = flag.String("listen", "", "where requests are taken")
	server  = flag.String("server", "", "the host and port of APNs")
	ca      = flag.String("ca", "", "the PEM file of the server's authority")
	keyFile = flag.String("key", "", "the PEM file of the signing key")
	keyID   = flag.String("key-id", "", "its id")
	teamID  = flag.String("team-id", "", "the team's id")
	apiKey  = flag.String("api-key-file", "", "a file with the key of the API")
)

// A wake, as it is asked for.
type wake struct {
	Kind        string          `json:"kind"`
	App         string          `json:"app"`
	DeviceToken string          `json:"device_token"`
	Payload     json.RawMessage `json:"payload"`
	id          string
}

func (w *wake) check() error {
	if w.Kind != "background" {
		return errors.New("kind: only background is known")
	}
	if token, err := hex.DecodeString(w.DeviceToken); err != nil || len(token) < 8 {
		return errors.New("device_token: not hexadecimal")
	}
	if len(w.Payload) > 4096 {
		return errors.New("payload: more than 4096 bytes")
	}
	var payload struct {
		Aps struct {
			ContentAvailable int `json:"content-available"`
		} `json:"aps"`
	}
	if err := json.Unmarshal(w.Payload, &payload); err != nil {
		return err
	}
	if payload.Aps.ContentAvailable != 1 {
		return errors.New("payload: aps.content-available is not 1")
	}
	return nil
}

// The provider token, signed anew after 40 minutes.
type tokenSource struct {
	sync.Mutex
	key  *ecdsa.PrivateKey
	text string
	made time.Time
}

func (s *tokenSource) token() string {
	s.Lock()
	defer s.Unlock()
	if time.Since(s.made) < 40*time.Minute {
		return s.text
	}
	encode := base64.RawURLEncoding.EncodeToString
	s.made = time.Now()
	head := encode([]byte(fmt.Sprintf(`{"alg":"ES256","kid":"%s"}`, *keyID)))
	claims := encode([]byte(fmt.Sprintf(`{"iss":"%s","iat":%d}`, *teamID, s.made.Unix())))
	digest := sha256.Sum256([]byte(head + "." + claims))
	r, t, err := ecdsa.Sign(rand.Reader, s.key, digest[:])
	if err != nil {
		log.Fatal(err)
	}
	s.text = head + "." + claims + "." + encode(append(fill(r), fill(t)...))
	return s.text
}

func fill(number *big.Int) []byte { return number.FillBytes(make([]byte, 32)) }

type program struct {
	client  *http.Client
	tokens  *tokenSource
	key     [32]byte
	queue   chan *wake
	unended int64
	failed  int64
}

func (p *program) isAllowed(w http.ResponseWriter, r *http.Request) bool {
	given := sha256.Sum256([]byte(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
	if subtle.ConstantTimeCompare(given[:], p.key[:]) == 1 {
		return true
	}
	http.Error(w, "the key is not known", http.StatusUnauthorized)
	return false
}

func (p *program) accept(w *wake) {
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		log.Fatal(err)
	}
	w.id = fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	atomic.AddInt64(&p.unended, 1)
	p.queue <- w
}

func (p *program) takeOne(w http.ResponseWriter, r *http.Request) {
	if !p.isAllowed(w, r) {
		return
	}
	wake := new(wake)
	err := json.NewDecoder(io.LimitReader(r.Body, 65536)).Decode(wake)
	if err == nil {
		err = wake.check()
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.accept(wake)
	answer(w, http.StatusAccepted, map[string]string{"id": wake.id, "state": "pending"})
}

func (p *program) takeBatch(w http.ResponseWriter, r *http.Request) {
	if !p.isAllowed(w, r) {
		return
	}
	var wakes []*wake
	if err := json.NewDecoder(io.LimitReader(r.Body, 64<<20)).Decode(&wakes); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	type item struct {
		ID     string `json:"id,omitempty"`
		Status int    `json:"status"`
		Error  string `json:"error,omitempty"`
	}
	items := make([]item, len(wakes))
	for i, wake := range wakes {
		if err := wake.check(); err != nil {
			items[i] = item{Status: http.StatusBadRequest, Error: err.Error()}
			continue
		}
		p.accept(wake)
		items[i] = item{ID: wake.id, Status: http.StatusAccepted}
	}
	answer(w, http.StatusOK, items)
}

func answer(w http.ResponseWriter, status int, value interface{}) {
	body, err := json.Marshal(value)
	if err != nil {
		log.Fatal(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// Sends what waits, one push at a time.
func (p *program) send() {
	for wake := range p.queue {
		if err := p.push(wake); err != nil {
			if atomic.AddInt64(&p.failed, 1) == 1 {
				log.Print(err)
			}
		}
		atomic.AddInt64(&p.unended, -1)
	}
}

func (p *program) push(w *wake) error {
	request, err := http.NewRequest(
		"POST", "https://"+*server+"/3/device/"+w.DeviceToken, strings.NewReader(string(w.Payload)))
	if err != nil {
		return err
	}
	request.Header.Set("authorization", "bearer "+p.tokens.token())
	request.Header.Set("apns-id", w.id)
	request.Header.Set("apns-topic", w.App)
	request.Header.Set("apns-push-type", "background")
	request.Header.Set("apns-priority", "5")
	response, err := p.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

func main() {
	flag.Parse()
	authority, err := os.ReadFile(*ca)
	if err != nil {
		log.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	text, err := os.ReadFile(*keyFile)
	if err != nil {
		log.Fatal(err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		log.Fatal("the signing key is not a PEM file")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		log.Fatal(err)
	}
	secret, err := os.ReadFile(*apiKey)
	if err != nil {
		log.Fatal(err)
	}
	p := &program{
		client: &http.Client{Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true,
		}},
		tokens: &tokenSource{key: key.(*ecdsa.PrivateKey)},
		key:    sha256.Sum256(secret),
		queue:  make(chan *wake, 1<<20),
	}
	for i := 0; i < 500; i++ {
		go p.send()
	}
	http.HandleFunc("/v1/wakes", p.takeOne)
	http.HandleFunc("/v1/wakes/batch", p.takeBatch)
	http.HandleFunc("/v1/stats", func(w http.ResponseWriter, r *http.Request) {
		if p.isAllowed(w, r) {
			answer(w, http.StatusOK, map[string]int64{
				"unended": atomic.LoadInt64(&p.unended), "failed": atomic.LoadInt64(&p.failed),
			})
		}
	})
	// It ends with the process that started it, whose end of its standard input is a pipe.
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.Serve(listener, nil))
}
