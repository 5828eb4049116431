#include "piconet_http.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void CURL;
typedef void CURLM;

// CURLMsg: what curl_multi_info_read gives.
struct message {
  int kind;  // 1: done
  CURL *easy;
  union {
    void *whatever;
    int result;
  } data;
};

// Types of options and of information: long, pointer, function, off_t.
enum { LONG = 0, POINTER = 10000, FUNCTION = 20000 };
enum {
  OPT_WRITEDATA = POINTER + 1,
  OPT_URL = POINTER + 2,
  OPT_ERRORBUFFER = POINTER + 10,
  OPT_WRITEFUNCTION = FUNCTION + 11,
  OPT_USERAGENT = POINTER + 18,
  OPT_LOW_SPEED_LIMIT = LONG + 19,
  OPT_LOW_SPEED_TIME = LONG + 20,
  OPT_FAILONERROR = LONG + 45,
  OPT_FOLLOWLOCATION = LONG + 52,
  OPT_SSL_VERIFYPEER = LONG + 64,
  OPT_MAXREDIRS = LONG + 68,
  OPT_SSL_VERIFYHOST = LONG + 81,
  OPT_NOSIGNAL = LONG + 99,
  OPT_CONNECTTIMEOUT_MS = LONG + 156,
  OPT_PROTOCOLS = LONG + 181,
  OPT_REDIR_PROTOCOLS = LONG + 182,
  OPT_QUICK_EXIT = LONG + 322,
  INFO_RESPONSE_CODE = 0x200000 + 2,
  INFO_CONTENT_TYPE = 0x100000 + 18,
  INFO_CONTENT_LENGTH_DOWNLOAD_T = 0x600000 + 15,
  HTTP_AND_HTTPS = 1 | 2,
  ABORTED_BY_CALLBACK = 42,
  WRITE_PAUSED = 0x10000001,
  PAUSE_NOTHING = 0,
};

static struct {
  int (*global_init)(long);
  CURL *(*easy_init)(void);
  void (*easy_cleanup)(CURL *);
  int (*easy_setopt)(CURL *, int, ...);
  int (*easy_getinfo)(CURL *, int, ...);
  int (*easy_pause)(CURL *, int);
  const char *(*easy_strerror)(int);
  CURLM *(*multi_init)(void);
  int (*multi_cleanup)(CURLM *);
  int (*multi_add_handle)(CURLM *, CURL *);
  int (*multi_remove_handle)(CURLM *, CURL *);
  int (*multi_perform)(CURLM *, int *);
  int (*multi_poll)(CURLM *, void *, unsigned int, int, int *);
  int (*multi_wakeup)(CURLM *);
  struct message *(*multi_info_read)(CURLM *, int *);
} curl;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_loaded = false;
static char load_failure[200];

static bool find(void *library, const char *name, void *target) {
  void *symbol = dlsym(library, name);
  memcpy(target, &symbol, sizeof symbol);
  if (!symbol) snprintf(load_failure, sizeof load_failure, "libcurl is too old: it has no %s", name);
  return symbol != NULL;
}

static void load(void) {
  void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(load_failure, sizeof load_failure, "URLs need libcurl.so.4 (Debian: libcurl4)");
    return;
  }
  is_loaded = find(library, "curl_global_init", &curl.global_init) && find(library, "curl_easy_init", &curl.easy_init) &&
              find(library, "curl_easy_cleanup", &curl.easy_cleanup) &&
              find(library, "curl_easy_setopt", &curl.easy_setopt) &&
              find(library, "curl_easy_getinfo", &curl.easy_getinfo) &&
              find(library, "curl_easy_pause", &curl.easy_pause) &&
              find(library, "curl_easy_strerror", &curl.easy_strerror) &&
              find(library, "curl_multi_init", &curl.multi_init) &&
              find(library, "curl_multi_cleanup", &curl.multi_cleanup) &&
              find(library, "curl_multi_add_handle", &curl.multi_add_handle) &&
              find(library, "curl_multi_remove_handle", &curl.multi_remove_handle) &&
              find(library, "curl_multi_perform", &curl.multi_perform) &&
              find(library, "curl_multi_poll", &curl.multi_poll) &&
              find(library, "curl_multi_wakeup", &curl.multi_wakeup) &&
              find(library, "curl_multi_info_read", &curl.multi_info_read);
  // 3: everything, as CURL_GLOBAL_DEFAULT.
  if (is_loaded && curl.global_init(3) != 0) {
    is_loaded = false;
    snprintf(load_failure, sizeof load_failure, "libcurl can't be initialised");
  }
}

struct piconet_http {
  CURLM *multi;
  CURL *easy;
  const struct piconet_http_request *request;
  bool has_begun;
  bool has_refused;
  bool is_paused;
};

struct piconet_http *piconet_http_make(struct piconet_http_result *result) {
  memset(result, 0, sizeof *result);
  pthread_once(&once, load);
  struct piconet_http *http = is_loaded ? calloc(1, sizeof *http) : NULL;
  if (http) {
    http->multi = curl.multi_init();
    http->easy = curl.easy_init();
    if (http->multi && http->easy) return http;
    piconet_http_free(http);
  }
  result->code = -1;
  snprintf(result->message, sizeof result->message, "%s", is_loaded ? "out of memory" : load_failure);
  return NULL;
}

void piconet_http_free(struct piconet_http *http) {
  if (http->easy) curl.easy_cleanup(http->easy);
  if (http->multi) curl.multi_cleanup(http->multi);
  free(http);
}

void piconet_http_wake(struct piconet_http *http) { curl.multi_wakeup(http->multi); }

static bool begin(struct piconet_http *http) {
  if (http->has_begun) return true;
  http->has_begun = true;
  int64_t length = -1;
  const char *type = NULL;
  curl.easy_getinfo(http->easy, INFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
  curl.easy_getinfo(http->easy, INFO_CONTENT_TYPE, &type);
  return http->request->began(http->request->context, length, type);
}

static size_t take(char *bytes, size_t size, size_t count, void *context) {
  struct piconet_http *http = context;
  enum piconet_http_taken taken = piconet_http_taken_no;
  if (begin(http)) taken = http->request->take(http->request->context, (const uint8_t *)bytes, size * count);
  if (taken == piconet_http_taken_yes) return size * count;
  if (taken == piconet_http_taken_later) {
    http->is_paused = true;
    return WRITE_PAUSED;
  }
  http->has_refused = true;
  return 0;
}

// The settings without which nothing may be fetched; a libcurl that refuses one of them is of no use.
static int prepare(struct piconet_http *http, const struct piconet_http_request *request, char *message) {
  CURL *easy = http->easy;
  int code = curl.easy_setopt(easy, OPT_URL, request->url);
  if (!code) code = curl.easy_setopt(easy, OPT_PROTOCOLS, (long)HTTP_AND_HTTPS);
  if (!code) code = curl.easy_setopt(easy, OPT_REDIR_PROTOCOLS, (long)HTTP_AND_HTTPS);
  if (!code) code = curl.easy_setopt(easy, OPT_SSL_VERIFYPEER, 1L);
  if (!code) code = curl.easy_setopt(easy, OPT_SSL_VERIFYHOST, 2L);
  if (!code) code = curl.easy_setopt(easy, OPT_FAILONERROR, 1L);
  if (!code) code = curl.easy_setopt(easy, OPT_FOLLOWLOCATION, 1L);
  if (!code) code = curl.easy_setopt(easy, OPT_MAXREDIRS, request->redirect_limit);
  if (!code) code = curl.easy_setopt(easy, OPT_NOSIGNAL, 1L);
  if (!code) code = curl.easy_setopt(easy, OPT_CONNECTTIMEOUT_MS, request->connect_timeout_ms);
  if (!code) code = curl.easy_setopt(easy, OPT_LOW_SPEED_LIMIT, 1L);
  if (!code) code = curl.easy_setopt(easy, OPT_LOW_SPEED_TIME, request->stall_timeout_s);
  if (!code) code = curl.easy_setopt(easy, OPT_WRITEFUNCTION, take);
  if (!code) code = curl.easy_setopt(easy, OPT_WRITEDATA, http);
  if (!code) code = curl.easy_setopt(easy, OPT_ERRORBUFFER, message);
  if (!code) code = curl.easy_setopt(easy, OPT_USERAGENT, request->user_agent);
  // Newer than the rest, so it may fail: the end does not wait for the thread that looks up an address.
  if (!code) curl.easy_setopt(easy, OPT_QUICK_EXIT, 1L);
  return code;
}

static int perform(struct piconet_http *http) {
  if (curl.multi_add_handle(http->multi, http->easy) != 0) return -1;
  int code = -1;
  int running = 1;
  while (running) {
    if (http->request->is_cancelled(http->request->context)) {
      code = ABORTED_BY_CALLBACK;
      break;
    }
    if (http->is_paused && http->request->has_room(http->request->context)) {
      http->is_paused = false;
      // A failure shows in the transfer's own end.
      curl.easy_pause(http->easy, PAUSE_NOTHING);
    }
    if (curl.multi_perform(http->multi, &running) != 0) break;
    int left = 0;
    struct message *message;
    while ((message = curl.multi_info_read(http->multi, &left)))
      if (message->kind == 1) code = message->data.result;
    if (running && curl.multi_poll(http->multi, NULL, 0, 1000, NULL) != 0) break;
  }
  return code;
}

void piconet_http_run(struct piconet_http *http, const struct piconet_http_request *request,
                      struct piconet_http_result *result) {
  memset(result, 0, sizeof *result);
  http->request = request;
  char message[256] = "";
  int code = prepare(http, request, message);
  if (!code) {
    code = perform(http);
    if (!code && !begin(http)) code = ABORTED_BY_CALLBACK;
    if (http->has_refused) code = ABORTED_BY_CALLBACK;
    curl.easy_getinfo(http->easy, INFO_RESPONSE_CODE, &result->status);
  }
  curl.multi_remove_handle(http->multi, http->easy);
  // It points into this stack frame.
  curl.easy_setopt(http->easy, OPT_ERRORBUFFER, NULL);
  result->code = code;
  const char *words = message[0] || code < 0 ? message : curl.easy_strerror(code);
  if (code) snprintf(result->message, sizeof result->message, "%s", words);
  http->request = NULL;
}
