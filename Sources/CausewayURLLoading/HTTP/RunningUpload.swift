internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

/// The state of a resumable upload. This is a separate object, so that a load without a resumable upload needs space only for a `nil`
/// reference.
final class RunningUpload: Sendable {
    /// What the load does after a response to the upload.
    enum Step {
        /// Deliver the response to the program.
        case deliver
        case fail
        /// Send the next request after the given pause.
        case send(after: Duration)
        /// Send the next request at once, over the same connection. This is possible because the response has no
        /// content.
        case sendAgain
    }

    private let state: LockedValue<ResumableUpload>

    /// Returns the resumable upload for an upload task: an earlier upload that the task continues, or a new upload. A
    /// program can select a version of the draft for resumable uploads with the field `Upload-Draft-Interop-Version`.
    /// Returns `nil` if there is no content, or if the program itself sends other fields of this draft.
    init?(of attempt: LoadAttempt) {
        let (task, values) = (attempt.task, attempt.request.values)
        guard !task.plan.source.isOfRequest else { return nil }
        if let earlier = task.state.withLock({ state in state.load.upload.take() })?.value {
            state = LockedValue(earlier)
            return
        }
        guard values.body != .none, values.method != "GET", values.method != "HEAD",
            !["Upload-Complete", "Upload-Incomplete", "Upload-Offset"].contains(where: values.fields.contains),
            let version = values.fields.contains(UploadVersion.fieldName) ? UploadVersion(values.fields) : .latest
        else { return nil }
        let length: Int64? =
            switch task.plan.source {
            case .data(let data): Int64(data.count)
            case .file(let url): try? FileFacts.size(of: url)
            case .form(let content): content.count
            case .stream, .request: values.fields.firstValue(of: "Content-Length").flatMap { Int64(digits: $0) }
            }
        guard length != 0 else { return nil }
        state = LockedValue(
            ResumableUpload(length: length, mayStartOver: RetryRules.isIdempotent(values.method), version: version))
    }

    /// The state of the upload, with the progress that the server has confirmed.
    var upload: ResumableUpload { state.withLock { $0 } }

    /// The offset at which the next request's content begins; `nil` if the request sends no content.
    var nextOffset: Int64? {
        switch upload.request {
        case .creation: 0
        case .retrieval: nil
        case .appending(let offset): offset
        }
    }

    /// Returns the upload's current request, made from the program's request.
    func request(_ values: RequestValues) -> HTTPRequestValue? {
        guard let text = values.url?.absoluteString, let target = URIReference(text) else { return nil }
        var value = RedirectableRequest(
            method: values.method, target: target, fields: values.unfoldedFields, hasContent: values.body != .none)
        upload.apply(to: &value)
        return HTTPRequestValue(method: value.method, uri: value.target.description, fields: value.fields)
    }

    /// Stores the upload resource that the server names.
    func informed(_ head: HTTPResponseHead, of values: RequestValues) {
        guard let text = values.url?.absoluteString, let target = URIReference(text) else { return }
        state.withLock { upload in
            upload.informed(status: head.status, fields: head.fields, target: upload.resource ?? target)
        }
    }

    /// Reports a response and returns the next step of the load.
    ///
    /// A 401 response does not change the upload's state, because the server may ask for a credential at each step of
    /// the upload.
    func answered(_ head: HTTPResponseHead) -> Step {
        guard head.status != 401 else { return .deliver }
        return state.withLock { upload in
            let request = upload.request
            switch upload.answered(status: head.status, fields: head.fields) {
            case .deliver: return .deliver
            case .fail: return .fail
            case .send(.zero) where request == .retrieval: return .sendAgain
            case .send(let delay): return .send(after: delay)
            }
        }
    }

    /// Reports that the connection broke. Returns the pause before the next request; `nil` if the upload cannot continue.
    func connectionBroke() -> Duration? {
        guard case .send(let delay) = state.withLock({ $0.connectionBroke() }) else { return nil }
        return delay
    }
}
