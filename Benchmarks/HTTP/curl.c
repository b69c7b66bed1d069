// Loads a URL over and over with libcurl's multi interface.
//
// usage: curl URL REQUESTS CONNECTIONS [http2] [insecure]
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long received;

static size_t drop(char *data, size_t size, size_t count, void *context) {
    (void)data, (void)context;
    received += size * count;
    return size * count;
}

int main(int count, char **words) {
    long requests = atol(words[2]), connections = atol(words[3]), started = 0, done = 0, failed = 0;
    int http2 = 0, insecure = 0;
    for (int i = 4; i < count; i++) {
        if (!strcmp(words[i], "http2")) http2 = 1;
        if (!strcmp(words[i], "insecure")) insecure = 1;
    }
    curl_global_init(CURL_GLOBAL_ALL);
    CURLM *multi = curl_multi_init();
    if (http2) curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    for (long i = 0; i < connections && started < requests; i++, started++) {
        CURL *easy = curl_easy_init();
        curl_easy_setopt(easy, CURLOPT_URL, words[1]);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop);
        if (http2) {
            curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS);
            curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
        }
        if (insecure) {
            curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
            curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
        }
        curl_multi_add_handle(multi, easy);
    }
    while (done < requests) {
        int running, left;
        curl_multi_perform(multi, &running);
        for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
            if (message->msg != CURLMSG_DONE) continue;
            CURL *easy = message->easy_handle;
            if (message->data.result != CURLE_OK) failed++;
            done++;
            curl_multi_remove_handle(multi, easy);
            if (started < requests) started++, curl_multi_add_handle(multi, easy);
            else curl_easy_cleanup(easy);
        }
        if (done < requests) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    printf("done %ld failed %ld bytes %llu\n", done, failed, received);
    return failed > 0;
}
