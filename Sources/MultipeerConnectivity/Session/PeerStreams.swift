internal import Causeway
internal import CausewayPeers
internal import CausewayStreams
internal import Foundation

/// Foundation's streams over the streams of the engine.
enum PeerStreams {
    /// Maximum number of bytes in flight of one stream: the window of the protocol.
    private static let window = 256 << 10
    /// Maximum number of bytes that a sender's stream holds before the engine takes them.
    private static let outputSize = 64 << 10

    static func input(_ stream: PeerInputStream) -> InputStream {
        let feed = StreamFeed(capacity: window) {
            stream.consumed($0)
        } onClose: {
            stream.reset()
        }
        let input = feed.makeStream()
        // Foundation's stream holds the feed, and the feed holds the engine's stream, which holds this handler.
        stream.start { [weak feed, weak stream] event in
            switch event {
            case .data(let data):
                // The sender keeps to the window, so there is room unless the program closed the stream.
                if feed?.put(data) == false { stream?.reset() }
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
    /// The error of a stream, whose domain is that of POSIX as for streams over connections.
    var streamError: NWError {
        switch code {
        case .timedOut: .posix(.ETIMEDOUT)
        case .cancelled: .posix(.ECONNABORTED)
        default: .posix(.ECONNRESET)
        }
    }
}
