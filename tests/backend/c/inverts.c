/* A backend in C: inverts samples of 8 bits, in one grow-only buffer. -DCHURN, -DLEAK, -DKEPT,
 * -DNODATA and -DNOFORMAT each plant a fault; -DLACKS leaves out a function. */
#include <stdlib.h>
#include <string.h>

#include "steadyframe.h"

typedef struct backend {
    uint8_t *buffer;
    size_t capacity;
    sf_frame result;
    int ready;
    const char *error;
} backend;

static size_t channels_of(const char *format) {
    return strcmp(format, "gray8") == 0 ? 1 : strcmp(format, "grayf32") == 0 ? 0 : 3;
}

void *sf_open(const char *options) {
    if (strcmp(options, "none") == 0)
        return NULL;
    return calloc(1, sizeof(backend));
}

int sf_execute(void *handle, const sf_frame *frame) {
    backend *mine = handle;
    size_t channels = channels_of(frame->format);
    size_t size = channels * (size_t)frame->width * (size_t)frame->height;
    if (channels == 0) {
        mine->error = "only samples of 8 bits are inverted";
        return -1;
    }
#ifdef CHURN
    free(mine->buffer), mine->buffer = NULL, mine->capacity = 0;
#endif
    if (mine->capacity < size) {
        uint8_t *larger = realloc(mine->buffer, size); /* fault CHURN */
        if (larger == NULL) {
            mine->error = "no memory for a frame";
            return -2;
        }
        mine->buffer = larger;
        mine->capacity = size;
    }
#ifdef LEAK
    mine->error = malloc(16); /* fault LEAK */
#endif
    for (size_t i = 0; i < size; i++)
        mine->buffer[i] = 255 - ((const uint8_t *)frame->data)[i];
    mine->result = *frame;
    mine->result.data = mine->buffer;
    mine->ready = 1;
    return 0;
}

int sf_get_result(void *handle, sf_frame *result) {
    backend *mine = handle;
    if (!mine->ready)
        return 0;
    *result = mine->result;
    mine->ready = 0;
#ifdef NODATA
    result->data = NULL;
#endif
#ifdef NOFORMAT
    result->format = NULL;
#endif
    return 1;
}

#ifndef LACKS
int sf_flush(void *handle) {
    (void)handle;
    return 0;
}
#endif

void sf_close(void *handle) {
    backend *mine = handle;
#ifndef KEPT
    free(mine->buffer);
#endif
    free(mine);
}

const char *sf_error(void *handle) { return ((backend *)handle)->error; }
