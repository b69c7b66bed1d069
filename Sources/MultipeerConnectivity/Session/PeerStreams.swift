internal import Causeway
internal import CausewayPeers
internal import CausewayStreams
internal import Foundation

/// Creates Foundation streams over engine streams.
enum PeerStreams {
    /// The protocol's flow-control window per stream, in bytes.
    private static let window = 256 << 10
    /// The maximum number of bytes that an output stream buffers until the engine accepts them.
    private static let outputSize = 64 << 10

    static func input(_ stream: PeerInputStream) -> InputStream {
        let feed = StreamFeed(capacity: window) {
            stream.consumed($0)
        } onClose: {
            stream.close()
        }
        let input = feed.makeStream()
        // Capture `feed` and `stream` weakly, to avoid a retain cycle: the Foundation stream owns `feed`, `feed` owns
        // the engine stream, and the engine stream owns this handler.
        stream.start { [weak feed, weak stream] event in
            switch event {
            case .data(let data):
                // `put` fails only if the program has closed the stream. The bytes always fit, because the buffer is as
                // large as the flow-control window, and the engine enforces the window.
                if feed?.put(data) == false { stream?.close() }
            case .ended: feed?.finish()
            case .failed(let failure): feed?.fail(failure.streamError)
            }
        }
        return input
    }

    static func output(_ stream: PeerOutputStream) -> OutputStream {
        let drain = StreamDrain(capacity: outputSize)
        stream.onChange { [drain] failure in
            if let failure { drain.fail(failure.streamError) } else { drain.move() }
        }
        drain.start(
            StreamDrain.Channel { data in
                try? stream.write(data)
            } end: {
                stream.close()
            })
        return drain.makeStream()
    }
}

extension PeerFailure {
    /// The error that a Foundation stream reports for this failure. It has the POSIX domain, like the errors of streams
    /// over network connections.
    var streamError: NWError {
        switch code {
        case .timedOut: .posix(.ETIMEDOUT)
        case .cancelled: .posix(.ECONNABORTED)
        default: .posix(.ECONNRESET)
        }
    }
}
