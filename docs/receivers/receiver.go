// Receives webhooks, with Go's standard library alone (1.19 or newer):
//
//	WEBHOOK_SECRET=whsec_… PORT=3000 go run receiver.go
//
// While the secret is changed, both can be given, with a comma in between.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
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
	bodyBytesMax = 262144
	tolerance    = 300 * time.Second
	idsMax       = 10000
)

type secret struct {
	text string // keys X-Svc-Signature
	key  []byte // keys webhook-signature
}

type event struct {
	Type     string `json:"type"`
	Sequence int64  `json:"sequence"`
	ID       string `json:"id"`
}

type receiver struct {
	secrets []secret
	mutex   sync.Mutex
	// Ids of the events that were taken, and their order. In earnest this is a column of your database, unique.
	taken map[string]bool
	order []string
}

// take is yours: write it down and return; what takes long is done after the answer. Where it fails, the event comes again.
func take(told event) error {
	_, err := fmt.Println(told.Type, told.Sequence, told.ID)
	return err
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	w.WriteHeader(r.receive(w, request))
}

// receive returns the status of the answer. All but 2xx brings the event again.
func (r *receiver) receive(w http.ResponseWriter, request *http.Request) int {
	if request.Method != http.MethodPost {
		return http.StatusMethodNotAllowed
	}
	// The bytes as they came: JSON that was read and written again has another signature.
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, bodyBytesMax))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return http.StatusRequestEntityTooLarge
	}
	if err != nil {
		return http.StatusBadRequest
	}
	// Either of the two is enough; the first one also refuses what somebody recorded and sends again later.
	if !r.hasStandardSignature(request.Header, body) || !r.hasPlainSignature(request.Header, body) {
		return http.StatusUnauthorized
	}
	id := request.Header.Get("webhook-id")
	r.mutex.Lock()
	defer r.mutex.Unlock()
	// An event can come more than once.
	if r.taken[id] {
		return http.StatusNoContent
	}
	var told event
	if json.Unmarshal(body, &told) != nil || take(told) != nil {
		return http.StatusInternalServerError
	}
	r.taken[id] = true
	r.order = append(r.order, id)
	if len(r.order) > idsMax {
		delete(r.taken, r.order[0])
		r.order = r.order[1:]
	}
	return http.StatusNoContent
}

// hasStandardSignature: Standard Webhooks, HMAC-SHA256 of "id.timestamp.body", keyed with the bytes that the secret's base64 stands for.
func (r *receiver) hasStandardSignature(header http.Header, body []byte) bool {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if id == "" || err != nil {
		return false
	}
	if age := time.Since(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return false
	}
	for _, secret := range r.secrets {
		expected := "v1," + base64.StdEncoding.EncodeToString(sign(secret.key, []byte(id+"."+timestamp+"."), body))
		// While the secret is changed there are two signatures.
		for _, given := range strings.Split(header.Get("webhook-signature"), " ") {
			if hmac.Equal([]byte(given), []byte(expected)) {
				return true
			}
		}
	}
	return false
}

// hasPlainSignature: X-Svc-Signature, HMAC-SHA256 of the body, keyed with the secret's whole text. The new secret's is in a field of its own.
func (r *receiver) hasPlainSignature(header http.Header, body []byte) bool {
	for _, secret := range r.secrets {
		expected := "sha256=" + hex.EncodeToString(sign([]byte(secret.text), body))
		for _, name := range []string{"X-Svc-Signature", "X-Svc-Signature-Next"} {
			// In a time that does not tell where they differ.
			if hmac.Equal([]byte(header.Get(name)), []byte(expected)) {
				return true
			}
		}
	}
	return false
}

func sign(key []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}

func readSecrets(texts string) []secret {
	var secrets []secret
	for _, text := range strings.Split(texts, ",") {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, "whsec_"))
		if !strings.HasPrefix(text, "whsec_") || err != nil || len(key) != sha256.Size {
			log.Fatal("WEBHOOK_SECRET: whsec_… was expected")
		}
		secrets = append(secrets, secret{text, key})
	}
	return secrets
}

func main() {
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	handler := &receiver{secrets: readSecrets(os.Getenv("WEBHOOK_SECRET")), taken: map[string]bool{}}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s/\n", listener.Addr())
	server := http.Server{Handler: handler, ReadTimeout: 15 * time.Second, MaxHeaderBytes: 16384}
	log.Fatal(server.Serve(listener))
}
