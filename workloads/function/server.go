package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
)

// A server answers HTTP requests by requests to a worker. More than `queue` of them that wait are refused: whoever
// sends them has to slow down.
type server struct {
	worker  *worker
	queue   int64
	waiting int64 // Requests inside, the one at work too. Atomic.
}

func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", s.call)
	mux.HandleFunc("/healthz", s.healthz)
	return mux
}

// call is the function: the body of the request is not looked at, the answer is the workload's line.
func (s *server) call(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" {
		http.NotFound(w, r)
		return
	}
	if atomic.AddInt64(&s.waiting, 1) > s.queue+1 {
		atomic.AddInt64(&s.waiting, -1)
		w.Header().Set("Retry-After", "1")
		fail(w, http.StatusServiceUnavailable, fmt.Errorf("%d requests wait already", s.queue))
		return
	}
	defer atomic.AddInt64(&s.waiting, -1)

	line, err := s.worker.do(r.Context())
	if err != nil {
		fail(w, http.StatusBadGateway, err)
		return
	}
	var result struct {
		Correct *bool `json:"correct"` // null: not checked.
	}
	status := http.StatusOK
	if err := json.Unmarshal(line, &result); err != nil || (result.Correct != nil && !*result.Correct) {
		status = http.StatusInternalServerError
	}
	answer(w, status, line)
}

func (s *server) healthz(w http.ResponseWriter, _ *http.Request) {
	if err := s.worker.health(); err != nil {
		fail(w, http.StatusServiceUnavailable, err)
		return
	}
	answer(w, http.StatusOK, []byte(`{"ready":true}`))
}

func answer(w http.ResponseWriter, status int, line []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// An error here means that the client is gone.
	_, _ = w.Write(append(line, '\n'))
}

func fail(w http.ResponseWriter, status int, err error) {
	line, encodeErr := json.Marshal(map[string]string{"error": err.Error()})
	if encodeErr != nil {
		panic(encodeErr) // A map of strings is always JSON.
	}
	answer(w, status, line)
}
