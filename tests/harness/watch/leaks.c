#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *lose(size_t size)
{
    void *block = malloc(size);
    memset(block, 1, size);
    return block;
}

int main(void)
{
    for (;;) {
        lose(10000);
        free(lose(5000));
        usleep(10000);
    }
}
