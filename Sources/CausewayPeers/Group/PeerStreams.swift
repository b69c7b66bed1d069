internal import CausewayPeerProtocols
package import Foundation

/// A stream's sending end. If this object is released before the stream is closed, the stream is reset.
package final class PeerOutputStream: Sendable {
    private let state: StreamState
    private let node: PeerNode

    init(_ state: StreamState, _ node: PeerNode) {
        self.state = state
        self.node = node
    }

    deinit {
        state.detach()
        if !state.hasEnded { reset() }
    }

    /// Writes bytes to the stream. Accepts only as many bytes as the peer's flow-control window allows, and returns
    /// their number. The number is 0 if the window is full.
    package func write(_ data: Data) throws(PeerFailure) -> Int {
        if let failure = state.failure { throw failure }
        let channel = state.channel
        return node.apply { core, now in core.mesh.write(channel, [UInt8](data), at: now) }
    }

    /// Why the stream failed; `nil` if it has not failed.
    package var failure: PeerFailure? { state.failure }

    /// Whether the stream was closed or has failed, and accepts no more bytes.
    package var hasEnded: Bool { state.hasEnded }

    /// The number of bytes that ``write(_:)`` would accept.
    package var space: Int {
        let channel = state.channel
        return node.apply { core, _ in core.mesh.streamSpace(channel) }
    }

    /// Sets a handler that runs on the group's queue when the stream has space again, and when the stream has failed.
    package func onChange(_ handler: @escaping @Sendable (PeerFailure?) -> Void) { state.onChange(handler) }

    /// Accepts no more bytes, and ends the stream when all bytes that ``write(_:)`` accepted are sent.
    package func close() {
        let channel = state.channel
        node.apply { core, now in core.mesh.endStream(channel, at: now) }
        state.close()
    }

    /// Ends the stream at once. The receiver gets an error.
    package func reset() {
        let channel = state.channel
        node.apply { core, now in core.releaseStream(channel, at: now) }
    }
}

/// A stream's receiving end. When this object is released, the stream is closed.
package final class PeerInputStream: Sendable {
    /// A stream event. No event follows `ended` or `failed`.
    package enum Event: Sendable {
        case data(Data)
        case ended
        case failed(PeerFailure)
    }

    private let state: StreamState
    private let node: PeerNode

    init(_ state: StreamState, _ node: PeerNode) {
        self.state = state
        self.node = node
    }

    deinit {
        state.detach()
        close()
    }

    /// Starts delivering events on the group's queue. Events that have already arrived come first.
    package func start(_ handler: @escaping @Sendable (Event) -> Void) { state.start(handler) }

    /// Reports that the program has consumed bytes, so that the sender's window (256 KiB) opens again.
    package func consumed(_ byteCount: Int) {
        let state = state
        node.apply { core, now in
            if !state.isClosed { core.mesh.consumedStream(state.channel, byteCount, at: now) }
        }
    }

    /// Closes the stream. If the stream has not ended, the sender gets an error. If it has ended, it no longer counts
    /// against the number of streams that the sender may open.
    package func close() {
        let state = state
        node.apply { core, now in
            // Release the stream only once. After the release, the sender may use the stream's number for another
            // stream, which a second release would end.
            if state.closeReceiving() { core.releaseStream(state.channel, at: now) }
        }
    }
}

extension NodeCore {
    /// Ends or releases a stream.
    fileprivate mutating func releaseStream(_ channel: ChannelID, at now: Duration) {
        mesh.releaseStream(channel, at: now)
        // Use an action of the node to remove the stream from the group. An earlier action may still have to add the
        // stream to the group.
        if let port = groups[channel.member.session] { request(.run { port.forget(channel) }) }
    }
}
