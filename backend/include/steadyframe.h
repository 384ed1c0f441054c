/* The C interface of a backend that steadyframe verifies: `steadyframe verify c:./libmine.so`.
 *
 * Build with debug information (-g) to have findings name lines of C. All functions are called from
 * one thread; the library may have threads of its own. */
#ifndef STEADYFRAME_H
#define STEADYFRAME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sf_frame {
    const void *data;   /* packed rows, without padding: width x height x channels samples */
    int32_t width;      /* pixels */
    int32_t height;     /* pixels */
    const char *format; /* "rgb24", "bgr24", "gray8" (8-bit samples) or "grayf32" (float) */
    int64_t pts;        /* presentation time stamp: of a result, that of the frame it is of */
} sf_frame;

/* A new backend, or NULL. `options` is the text given as --arg options=TEXT, else "". */
void *sf_open(const char *options);

/* Submit one frame; may block while all requests are in flight. The frame is the caller's again
 * once this returns. 0, or negative for a frame that can't be taken. */
int sf_execute(void *backend, const sf_frame *frame);

/* The next finished result in the order of submission: 1 and *result filled in, 0 if none is ready,
 * negative for a frame that failed, at its turn. The result's data stay valid until the next call
 * of any function. */
int sf_get_result(void *backend, sf_frame *result);

/* Finish all that is in flight. 0, or negative. */
int sf_flush(void *backend);

/* Release everything, the handle included. Called once. */
void sf_close(void *backend);

/* Optional: what the last negative value meant, in words. */
const char *sf_error(void *backend);

/* Optional: the number of requests that can be in flight. */
int sf_nireq(void *backend);

#ifdef __cplusplus
}
#endif
#endif
