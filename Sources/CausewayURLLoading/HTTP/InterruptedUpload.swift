internal import CausewayHTTPProtocols
internal import CausewayWire

/// Continues a resumable upload. If an exchange ends before the upload is complete, another exchange follows.
struct InterruptedUpload: Sendable {
    let load: any DrivenLoad
    let upload: RunningUpload

    /// Handles a response that belongs to the upload protocol and only says how the upload continues. Returns `false`
    /// for all other responses.
    func continues(after head: HTTPResponseHead) -> Bool {
        load.apply { $0.pathFound() }
        let (answer, step) = load.withState { $0.uploadAnswered(head, upload) }
        load.perform(step)
        switch answer {
        case .deliver: return false
        case .fail: load.fail(LoadFailure(.connectionLost))
        case .send, .sendAgain: break
        }
        return true
    }

    /// Continues the upload after its connection broke. Returns `false` if the upload cannot continue.
    func resumes(after failure: LoadFailure) -> Bool {
        switch failure.cause {
        case .connectionLost, .connectionRefused, .hostNotFound, .notConnected: break
        default: return false
        }
        let step = load.withState { $0.uploadBroke(upload) }
        guard case .pause = step.action else { return false }
        load.perform(step)
        return true
    }
}
