internal import CausewaySystem
internal import Foundation

/// Stores a transfer's result, and the response body of an upload.
extension BackgroundTransfer {
    /// Stores a chunk of an upload's response body.
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

    /// Discards the response body after a failed upload attempt.
    func dropBody() {
        let body = state.withLock { state in
            defer { state.body = Body() }
            return state.body
        }
        body.file?.remove()
    }

    /// Records that the result is complete. A download's file must have been closed.
    func finished(_ response: URLResponse?) throws(LoadFailure) {
        let body = state.withLock { state in
            defer { state.body.file = nil }
            return state.body
        }
        // If the content cannot be written to the disk, only the content of the response is missing.
        let isSynchronized = body.file?.synchronize() ?? true
        try body.file?.close()
        let isWritten = update { record in
            record.stage = .finished
            record.content.isCut = body.isCut || !isSynchronized
            record.response = (response as? HTTPURLResponse)?.head
        }
        guard isWritten else { throw LoadFailure(.fileNotWritten) }
    }

    /// The stored response body of an upload.
    var body: Data? { store.content(identifier, limit: Self.maximumBodyCount) }
}
