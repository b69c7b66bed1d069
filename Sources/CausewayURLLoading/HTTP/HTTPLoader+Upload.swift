internal import Causeway
internal import CausewayHTTP
internal import CausewayHTTPProtocols
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Dispatch
internal import Foundation

/// The state of a resumable upload. This is a separate object, so that a load without a resumable upload needs space
/// only for a `nil` reference.
final class RunningUpload: Sendable {
    private let state: LockedValue<ResumableUpload>

    init(_ upload: ResumableUpload) { state = LockedValue(upload) }

    func withLock<Result: Sendable>(_ body: (inout ResumableUpload) -> Result) -> Result {
        state.withLock { body(&$0) }
    }
}

/// Uploads that continue after their connection broke.
extension HTTPLoader {
    /// Returns the resumable upload for an upload task: an earlier one that it continues, or a new one. A program can select the draft
    /// version with its field. Returns `nil` if there is no content, or if the program sends the draft's other fields.
    static func upload(of attempt: LoadAttempt) -> ResumableUpload? {
        let (task, values) = (attempt.task, attempt.request.values)
        if let earlier = task.state.withLock({ state in state.load.upload.take() })?.value { return earlier }
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
        return ResumableUpload(length: length, mayStartOver: RetryRules.isIdempotent(values.method), version: version)
    }

    /// The upload, as far as the server has confirmed it.
    var upload: ResumableUpload? { uploading?.withLock { $0 } }

    /// The content offset that the next request sends from; `nil` if it sends no content.
    var nextOffset: Int64? {
        guard let upload else { return 0 }
        return switch upload.request {
        case .creation: 0
        case .retrieval: nil
        case .appending(let offset): offset
        }
    }

    /// Returns an upload's current request.
    func request(of upload: ResumableUpload) -> HTTPRequestValue? {
        let values = request.values
        guard let text = values.url?.absoluteString, let target = URIReference(text) else { return nil }
        var value = RedirectableRequest(
            method: values.method, target: target, fields: values.unfoldedFields, hasContent: values.body != .none)
        upload.apply(to: &value)
        return HTTPRequestValue(method: value.method, uri: value.target.description, fields: value.fields)
    }

    // MARK: Responses

    /// Stores the upload resource that the server names.
    func noteUpload(_ head: HTTPResponseHead) {
        guard let text = request.values.url?.absoluteString, let target = URIReference(text) else { return }
        uploading?.withLock { upload in
            upload.informed(status: head.status, fields: head.fields, target: upload.resource ?? target)
        }
    }

    /// Handles a response that only reports how the upload continues. Returns whether it is one.
    func continuesUpload(_ head: HTTPResponseHead) -> Bool {
        guard let uploading else { return false }
        report { $0.pathFound() }
        enum Next { case deliver, fail, perform(LoadMachine.Action), sendAgain(HTTPOrigin, LoadMachine.Action) }
        let next = state.withLock { state -> Next in
            // The server can ask for a credential at each step.
            guard state.machine.isAwaitingHead, head.status != 401 else { return .deliver }
            let (step, decision) = uploading.withLock { upload in
                (upload.request, upload.answered(status: head.status, fields: head.fields))
            }
            switch decision {
            case .deliver: return .deliver
            case .fail: return .fail
            // A HEAD response has no content, and its connection can be used again.
            case .send(.zero) where step == .retrieval:
                return .sendAgain(state.exchange.origin, state.machine.headArrived(.sendAgain))
            case .send(let delay): return .perform(state.machine.uploadInterrupted(for: delay))
            }
        }
        switch next {
        case .deliver: return false
        case .fail: fail(LoadFailure(.connectionLost))
        case .perform(let action): perform(action)
        case .sendAgain(let origin, let action):
            // The next exchange adds this loader again.
            if origin.isSecure { network.challenges.remove(self, origin) }
            perform(action)
        }
        return true
    }

    // MARK: Failures

    /// Continues the upload after its connection broke. Returns `false` if that is impossible.
    func resumesUpload(after failure: LoadFailure) -> Bool {
        guard let uploading else { return false }
        switch failure.cause {
        case .connectionLost, .connectionRefused, .hostNotFound, .notConnected: break
        default: return false
        }
        let action = state.withLock { state -> LoadMachine.Action in
            guard !state.machine.hasEnded, case .send(let delay) = uploading.withLock({ $0.connectionBroke() }) else {
                return .none
            }
            return state.machine.uploadInterrupted(for: delay)
        }
        guard case .pause = action else { return false }
        perform(action)
        return true
    }

    /// Leaves the exchange, and waits.
    func pause(for delay: Duration) {
        let end = state.withLock { state in state.exchange.end() }
        if let origin = end.secureOrigin { network.challenges.remove(self, origin) }
        end.handle?.cancel()
        let nanoseconds = Int(delay / .nanoseconds(1))
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { [weak self] in
            self?.report { $0.pauseElapsed() }
        }
    }
}
