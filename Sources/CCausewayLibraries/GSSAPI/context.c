#include "causeway_gssapi.h"
#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The types of RFC 2744, appendix A, as MIT's library defines them on Linux.
typedef uint32_t status_code;
typedef struct { uint32_t length; void *elements; } oid;
typedef struct { size_t length; void *value; } buffer;
typedef struct { size_t count; oid *elements; } oid_set;

// The routine errors and calling errors are in the upper half of a major status.
#define IS_ERROR(major) (((major) & 0xFFFF0000u) != 0)
#define CONTINUE_NEEDED 1u
#define GSS_CODE 1
#define MECHANISM_CODE 2
#define INITIATE 1
// No flags: replay detection and sequence detection are not needed, because the context protects no messages.
#define NO_FLAGS 0u

#define FUNCTIONS(F) \
    F(status_code, gss_import_name, (status_code *, buffer *, oid *, void **)) \
    F(status_code, gss_release_name, (status_code *, void **)) \
    F(status_code, gss_release_buffer, (status_code *, buffer *)) \
    F(status_code, gss_acquire_cred, \
      (status_code *, void *, uint32_t, oid_set *, int, void **, oid_set **, uint32_t *)) \
    F(status_code, gss_acquire_cred_with_password, \
      (status_code *, void *, buffer *, uint32_t, oid_set *, int, void **, oid_set **, uint32_t *)) \
    F(status_code, gss_release_cred, (status_code *, void **)) \
    F(status_code, gss_init_sec_context, \
      (status_code *, void *, void **, void *, oid *, uint32_t, uint32_t, void *, buffer *, oid **, buffer *, uint32_t *, \
       uint32_t *)) \
    F(status_code, gss_delete_sec_context, (status_code *, void **, buffer *)) \
    F(status_code, gss_display_status, (status_code *, uint32_t, int, oid *, uint32_t *, buffer *))

#define MEMBER(result, name, parameters) result(*name) parameters;
typedef struct { FUNCTIONS(MEMBER) } table;

static table gss;
static char load_message[512];
static bool is_loaded;

// The object identifiers 1.3.6.1.5.5.2 (RFC 4178 §3), 1.2.840.113554.1.2.1.4 and 1.2.840.113554.1.2.1.1 (RFC 2743 §4.1,
// RFC 2744 §4.2).
static oid spnego = {6, "\x2b\x06\x01\x05\x05\x02"};
static oid service_name = {10, "\x2a\x86\x48\x86\xf7\x12\x01\x02\x01\x04"};
static oid user_name = {10, "\x2a\x86\x48\x86\xf7\x12\x01\x02\x01\x01"};

static bool load(const char *name, table *found, char *message, size_t capacity) {
    const char *hint =
        "Negotiate needs GSSAPI. Install it: libgssapi-krb5-2 (Debian, Ubuntu), krb5-libs (Fedora, RHEL, Alpine), krb5 (openSUSE, Arch).";
    void *library = cw_open_library(name);
    if (library == NULL) {
        const char *reason = dlerror();
        snprintf(message, capacity, "%s (%s)", hint, reason == NULL ? "not found" : reason);
        return false;
    }
    const char *missing = NULL;
// Converts a data pointer to a function pointer in the way that POSIX specifies for dlsym.
#define FIND(result, name, parameters) \
    if ((*(void **)&found->name = dlsym(library, #name)) == NULL && missing == NULL) missing = #name;
    FUNCTIONS(FIND)
    if (missing == NULL) return true;
    snprintf(message, capacity, "%s The installed version has no function %s.", hint, missing);
    return false;
}

bool cw_gss_probe(const char *name, char *message, size_t capacity) {
    table found;
    return load(name, &found, message, capacity);
}

// The library is never unloaded, because contexts may exist until the process ends.
static void load_once(void) {
    table found;
    is_loaded = load("libgssapi_krb5.so.2", &found, load_message, sizeof load_message);
    if (is_loaded) gss = found;
}

const char *cw_gss_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_once);
    return is_loaded ? NULL : load_message;
}

struct cw_gss_context {
    char *service;
    char *user;
    char *password;
    void *target;
    void *credential;
    void *context;
    buffer token;
    bool is_prepared;
    bool has_failed;
    char problem[512];
};

static char *copied(const char *text) { return text == NULL ? NULL : strdup(text); }

// Overwrites a text before its memory is freed. The barrier keeps the compiler from removing the writes.
static void erase(char *text) {
    if (text == NULL) return;
    memset(text, 0, strlen(text));
    __asm__ volatile("" : : "r"(text) : "memory");
    free(text);
}

cw_gss_context *cw_gss_context_new(const char *service, const char *user, const char *password) {
    if (cw_gss_load() != NULL) return NULL;
    cw_gss_context *made = calloc(1, sizeof *made);
    if (made == NULL) return NULL;
    made->service = copied(service);
    made->user = copied(user);
    made->password = copied(password);
    bool is_complete = made->service != NULL && (user == NULL || made->user != NULL) && (password == NULL || made->password != NULL);
    if (is_complete) return made;
    cw_gss_context_free(made);
    return NULL;
}

void cw_gss_context_free(cw_gss_context *context) {
    if (context == NULL) return;
    status_code minor;
    if (context->token.value != NULL) gss.gss_release_buffer(&minor, &context->token);
    if (context->context != NULL) gss.gss_delete_sec_context(&minor, &context->context, NULL);
    if (context->credential != NULL) gss.gss_release_cred(&minor, &context->credential);
    if (context->target != NULL) gss.gss_release_name(&minor, &context->target);
    free(context->service);
    free(context->user);
    erase(context->password);
    free(context);
}

// Appends the first error message for a status code to the context's problem text.
static void append_message(cw_gss_context *context, status_code code, int kind) {
    status_code minor;
    uint32_t more = 0;
    buffer text = {0, NULL};
    if (IS_ERROR(gss.gss_display_status(&minor, code, kind, kind == MECHANISM_CODE ? &spnego : NULL, &more, &text))) return;
    size_t used = strlen(context->problem);
    snprintf(
        context->problem + used, sizeof context->problem - used, "%s%.*s", used == 0 ? "" : ": ",
        (int)(text.length < 400 ? text.length : 400), (const char *)text.value);
    gss.gss_release_buffer(&minor, &text);
}

static cw_gss_status fail(cw_gss_context *context, status_code major, status_code minor) {
    context->has_failed = true;
    context->problem[0] = 0;
    append_message(context, major, GSS_CODE);
    if (minor != 0) append_message(context, minor, MECHANISM_CODE);
    if (context->problem[0] == 0) snprintf(context->problem, sizeof context->problem, "GSSAPI failed with the status %u", major);
    return CW_GSS_FAILED;
}

static status_code import(const char *text, oid *type, void **name, status_code *minor) {
    buffer value = {strlen(text), (void *)text};
    return gss.gss_import_name(minor, &value, type, name);
}

// Imports the service name and the user name, and acquires the user's credential. If no user is given, the GSSAPI
// library finds a credential itself.
static status_code prepare(cw_gss_context *context, status_code *minor) {
    status_code major = import(context->service, &service_name, &context->target, minor);
    if (IS_ERROR(major) || context->user == NULL) return major;
    void *user = NULL;
    major = import(context->user, &user_name, &user, minor);
    if (IS_ERROR(major)) return major;
    oid_set mechanisms = {1, &spnego};
    if (context->password == NULL) {
        major = gss.gss_acquire_cred(minor, user, 0, &mechanisms, INITIATE, &context->credential, NULL, NULL);
    } else {
        buffer password = {strlen(context->password), context->password};
        major = gss.gss_acquire_cred_with_password(
            minor, user, &password, 0, &mechanisms, INITIATE, &context->credential, NULL, NULL);
    }
    status_code ignored;
    gss.gss_release_name(&ignored, &user);
    return major;
}

cw_gss_status cw_gss_context_step(
    cw_gss_context *context, const uint8_t *input, size_t count, const uint8_t **token, size_t *token_count) {
    status_code major, minor = 0, ignored;
    *token = NULL;
    *token_count = 0;
    if (context->has_failed) return CW_GSS_FAILED;
    if (!context->is_prepared) {
        major = prepare(context, &minor);
        if (IS_ERROR(major)) return fail(context, major, minor);
        context->is_prepared = true;
    }
    if (context->token.value != NULL) gss.gss_release_buffer(&ignored, &context->token);
    context->token = (buffer){0, NULL};
    buffer received = {count, (void *)input};
    major = gss.gss_init_sec_context(
        &minor, context->credential, &context->context, context->target, &spnego, NO_FLAGS, 0, NULL, count == 0 ? NULL : &received,
        NULL, &context->token, NULL, NULL);
    if (IS_ERROR(major)) return fail(context, major, minor);
    *token = context->token.value;
    *token_count = context->token.length;
    return major & CONTINUE_NEEDED ? CW_GSS_CONTINUES : CW_GSS_COMPLETE;
}

const char *cw_gss_problem(const cw_gss_context *context) { return context->problem; }
