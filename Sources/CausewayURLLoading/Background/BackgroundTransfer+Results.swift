internal import CausewaySystem
internal import Foundation

/// The result of a transfer and the content of the response to an upload.
extension BackgroundTransfer {
    /// Keeps a piece of the response to an upload.
    func keep(_ data: Data) {
        let body = state.withLock { state in
            state.body.count += data.count
            if state.body.count > Self.maximumBodyCount { state.body.isCut = true }
            return state.body
        }
        guard !body.isCut else { return }
        do throws(LoadFailure) {
            let file = if let file = body.file { file } else { try FileSink(new: store.contentURL(identifier)) }
            state.withLock { $0.body.file = file }
            try file.write(data)
        } catch {
            state.withLock { $0.body.isCut = true }
        }
    }

    /// Forgets the response to an upload whose attempt failed.
    func dropBody() {
        let body = state.withLock { state in
            defer { state.body = Body() }
            return state.body
        }
        body.file?.remove()
    }

    /// Stores that the result is complete. The file has been closed.
    func finished(_ response: URLResponse?) throws(LoadFailure) {
        let body = state.withLock { state in
            defer { state.body.file = nil }
            return state.body
        }
        if let file = body.file {
            _ = file.synchronize()
            try file.close()
        }
        let isWritten = update { record in
            record.stage = .finished
            record.content.isCut = body.isCut
            record.response = (response as? HTTPURLResponse)?.head
        }
        guard isWritten else { throw LoadFailure(.fileNotWritten) }
    }

    /// The stored content of the response to an upload.
    var body: Data? { store.content(identifier, limit: Self.maximumBodyCount) }
}
