import CausewayHTTP
import FoundationEssentials
import Synchronization

/// Decodes received content, writes it to its destination and shows the progress, on the thread that receives the content.
final class ContentReceiver: Sendable {
    fileprivate struct State: ~Copyable {
        var sink: ContentSink
        var decoder: ContentDecoder?
        var progress: ProgressBar?
        /// The file position where the content begins.
        var origin: UInt64
    }

    private let state: Mutex<State>

    init(
        _ sink: consuming sending ContentSink, _ decoder: ContentDecoder?, _ progress: ProgressBar?, from origin: UInt64
    ) {
        state = Mutex(State(sink: sink, decoder: decoder, progress: progress, origin: origin))
    }

    /// Handles the next chunk of received content, which may still be encoded.
    func take(_ piece: Data) throws {
        try state.withLock { state in
            if let decoder = state.decoder {
                decoder.append(piece)
                try state.decode(decoder)
            } else {
                try state.sink.write(piece)
            }
            state.progress?.advance(to: state.origin + UInt64(state.sink.count))
        }
    }

    /// Handles the end of the content. Returns the number of written bytes, and the bytes kept for the JSON object.
    func finish() throws -> (count: Int, memory: Data) {
        try state.withLock { state in
            defer { state.progress?.finish() }
            if let decoder = state.decoder {
                decoder.end()
                try state.decode(decoder)
            }
            try state.sink.finish()
            return (state.sink.count, state.sink.memory)
        }
    }

    /// Ends the output after a failure. Another thread may be writing content at this moment, and its write may block.
    /// In that case, this method does nothing, because it must not wait.
    func abandon() {
        _ = state.withLockIfAvailable { state in
            state.progress?.finish()
            try? state.sink.finish()
        }
    }
}

extension ContentReceiver.State {
    fileprivate mutating func decode(_ decoder: ContentDecoder) throws {
        do {
            while let decoded = try decoder.next() { try sink.write(decoded) }
        } catch let failure as DecodingFailure {
            throw HTTPCommandFailure(failure)
        }
    }
}
