public import Foundation

/// Uploads of forms, an addition to Apple's API.
extension URLSession {
    /// Creates a task that uploads a form. The task sets `Content-Type`, and replaces the method GET with POST. After a
    /// redirect or an authentication challenge, it reads the form again without asking the delegate.
    ///
    /// This method looks up the sizes of the form's files. The task fails if this method finds that a file is missing,
    /// or if a file has another size when the task reads it.
    public func uploadTask(with request: URLRequest, from form: MultipartForm) -> URLSessionUploadTask {
        makeUploadTask(request, form, .delegate)
    }

    /// Creates a task that uploads a form and passes the response content to a completion handler on the delegate queue.
    public func uploadTask(
        with request: URLRequest, from form: MultipartForm,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        makeUploadTask(request, form, .handler(completionHandler))
    }

    /// Uploads a form and returns the response content and the response.
    ///
    /// Cancellation: cancels the task and throws `URLError.cancelled`.
    public func upload(
        for request: URLRequest, from form: MultipartForm, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await run(delegate) { uploadTask(with: request, from: form, completionHandler: $0) }
    }

    private func makeUploadTask(
        _ request: URLRequest, _ form: MultipartForm, _ outlet: TaskPlan.Outlet
    ) -> URLSessionUploadTask {
        var request = request
        if request.httpMethod == "GET" { request.httpMethod = "POST" }
        request.setValue(form.contentType, forHTTPHeaderField: "Content-Type")
        do throws(LoadFailure) {
            return makeUploadTask(request, .form(try form.content()), outlet)
        } catch {
            return makeUploadTask(request, .data(Data()), outlet, failure: error)
        }
    }
}
