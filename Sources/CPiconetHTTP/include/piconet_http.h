// HTTP by libcurl, which is loaded when the first URL is fetched: a program that fetches none doesn't need it.
//
// Swift can't call curl_easy_setopt, which is variadic; and the numbers that are used here are part of libcurl's binary
// interface, which has not changed since libcurl.so.4 (2006), so building needs none of its headers.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum piconet_http_taken {
  piconet_http_taken_no,  // Gives up.
  piconet_http_taken_yes,
  // Holds the server back; the same part comes again once there is room.
  piconet_http_taken_later,
};

struct piconet_http_request {
  const char *_Nonnull url;
  const char *_Nonnull user_agent;
  // How many redirects are followed.
  long redirect_limit;
  long connect_timeout_ms;
  // The fetch is given up when nothing at all comes for this long.
  long stall_timeout_s;
  void *_Nullable context;
  // Called before the first byte of the body, or at the end of an empty one. `length` is -1, and `type` null, if the
  // server does not say. False gives up.
  bool (*_Nonnull began)(void *_Nullable context, int64_t length, const char *_Nullable type);
  // A part of the body.
  enum piconet_http_taken (*_Nonnull take)(void *_Nullable context, const uint8_t *_Nonnull bytes, size_t count);
  // Asked while a part waits to be taken: repeatedly, and whenever the fetch is woken.
  bool (*_Nonnull has_room)(void *_Nullable context);
  // Asked repeatedly, at least once a second, and whenever the fetch is woken.
  bool (*_Nonnull is_cancelled)(void *_Nullable context);
};

struct piconet_http_result {
  // A CURLcode; 0: everything came. -1: there is no libcurl, or none that is new enough.
  int code;
  // The status of the last answer; 0 if there was none.
  long status;
  // What libcurl says about the failure.
  char message[256];
};

// One fetch. Made, run and freed by one thread; any thread may wake it.
struct piconet_http;

// Null if libcurl is missing, as `result` then says.
struct piconet_http *_Nullable piconet_http_make(struct piconet_http_result *_Nonnull result);

// Blocks until the fetch is over. Only http and https, even after redirects; the system's certificates are used.
void piconet_http_run(struct piconet_http *_Nonnull http, const struct piconet_http_request *_Nonnull request,
                      struct piconet_http_result *_Nonnull result);

// Makes `run` ask at once whether it is cancelled.
void piconet_http_wake(struct piconet_http *_Nonnull http);

void piconet_http_free(struct piconet_http *_Nonnull http);

#ifdef __cplusplus
}
#endif
