internal import CausewayPeerProtocols
public import Foundation

extension PeerSession {
    /// The members who receive a message.
    public enum Recipients: Sendable {
        /// All members that are connected when the call starts.
        case all
        case peer(PeerIdentity)
        case peers([PeerIdentity])
    }

    /// How a message is delivered.
    public enum Delivery: Hashable, Sendable {
        /// The message arrives exactly once, and in sending order. It may have up to 16 MiB.
        case reliable
        /// As `reliable`, but a message replaces an older message with the same key that is still queued for the peer.
        /// Use this for states of which only the newest matters, such as positions.
        case latest(key: String)
        /// The message is sent at once or not at all, and messages can arrive in any order. Messages over 64 KiB are
        /// sent as `reliable`.
        ///
        /// Messages of about 1,200 bytes or less use UDP with DTLS 1.2, so that a lost packet delays no other message.
        /// Larger messages use the link for reliable messages, where a lost packet can delay them. If UDP is blocked,
        /// all messages use that link.
        case datagram
    }

    /// Sends a message to members.
    ///
    /// Suspends while 4 MiB of messages are queued for a recipient. Datagrams of at most 64 KiB do not wait: they are
    /// dropped while 64 KiB of datagrams are queued.
    ///
    /// - Throws: ``PeerFailure`` with `notConnected` if a named peer is no member or left meanwhile, with `invalid` for more than 16 MiB.
    ///
    /// Cancellation: throws `CancellationError`. Some peers may receive the message.
    public func send(_ message: Data, to recipients: Recipients = .all, as delivery: Delivery = .reliable) async throws
    {
        switch recipients {
        case .peer(let peer): try await send(message, to: peer, delivery)
        case .peers(let peers): for peer in peers { try await send(message, to: peer, delivery) }
        case .all:
            for peer in peers {
                do {
                    try await send(message, to: peer, delivery)
                } catch let failure as PeerFailure where failure.code == .notConnected {
                    // This member has left the session. Still send the message to the remaining members.
                }
            }
        }
    }

    private func send(_ message: Data, to peer: PeerIdentity, _ delivery: Delivery) async throws {
        switch delivery {
        case .datagram where delivery.isDatagram(of: message.count):
            try group.send(message, to: [peer], .unreliable)
        case .reliable, .datagram: try await group.send(message, to: [peer])
        case .latest(let key): try await group.sendLatest(message, key, to: peer)
        }
    }

    /// Opens a byte stream to a member, which gets ``PeerEvent/stream(_:from:)``.
    ///
    /// A stream has one direction; for a conversation, the member opens one too.
    ///
    /// - Throws: ``PeerFailure`` with `notConnected`, with `invalid` for a name over 255 bytes, with `excess` if 256
    ///   streams to the member are open. A stream that has ended counts until the member has read it to its end, or
    ///   released its reader.
    public func open(_ name: String, to peer: PeerIdentity) throws(PeerFailure) -> PeerWriter {
        PeerWriter(name, try group.openStream(name, to: peer))
    }

    /// Sends a file to a member, which gets ``PeerEvent/receiving(_:from:)`` and then ``PeerEvent/file(_:from:)``.
    ///
    /// The transfer begins at once and continues after a link was replaced. The result is a sequence of progress
    /// values. The sequence ends when the receiver has stored the whole file. It throws ``PeerFailure`` if the transfer
    /// failed, for example with `cancelled`, with `file`, or with `excess` if 64 other transfers to the member have not
    /// ended.
    ///
    /// Cancellation: a task that stops iterating cancels the transfer on both sides.
    ///
    /// - Parameters:
    ///   - file: The file's URL.
    ///   - name: The file name for the receiver; `nil` for the URL's last path component.
    ///   - peer: A member.
    ///   - hasDigest: Whether the receiver compares the SHA-256 digest of the received file with the sender's digest.
    ///     The receiver always does this if it already had part of the file.
    public func send(
        file: URL, named name: String? = nil, to peer: PeerIdentity, hasDigest: Bool = false
    ) -> PeerFileProgress {
        PeerFileProgress(group, file, name ?? file.lastPathComponent, peer, hasDigest)
    }

    /// Compares codes with a member, so that both users know that no other host is between them.
    ///
    /// - Parameters:
    ///   - peer: A member.
    ///   - confirm: Shows the code, and returns whether the other user sees the same. The other side gets ``PeerEvent/compare(_:with:)``.
    /// - Throws: ``PeerFailure`` with `unverified` if either user saw another code; the peer is removed then.
    ///
    /// Cancellation: throws `CancellationError`; the peer remains a member without being verified.
    public func verify(_ peer: PeerIdentity, _ confirm: @Sendable (PeerCode) async throws -> Bool) async throws {
        guard peers.contains(peer) else { throw PeerFailure(.notConnected) }
        let code = try await outcomes.wait(.code(peer)) {
            group.verify(peer)
            endIfGone(peer, .code(peer))
        }
        // There is no code to show if another task has already verified the peer.
        guard let code else { return }
        let matches = try await confirm(code)
        try await outcomes.wait(.verification(peer)) {
            code.confirm(matches)
            endIfGone(peer, .verification(peer))
        }
    }

    /// Ends the wait with an error if the peer left before this task began to wait. In that case, no event would end
    /// the wait.
    private func endIfGone(_ peer: PeerIdentity, _ question: Outcomes.Question) {
        if !peers.contains(peer) { outcomes.answer(question, .failure(PeerFailure(.notConnected))) }
    }
}

/// An outgoing file's progress.
public struct PeerFileProgress: AsyncSequence, Sendable {
    /// The progress so far.
    public struct Part: Hashable, Sendable {
        /// The number of bytes sent so far.
        public let sentByteCount: Int64
        /// The file size in bytes.
        public let totalByteCount: Int64
        /// The sent fraction, from 0 to 1.
        public var fraction: Double {
            totalByteCount > 0 ? Swift.min(1, Double(sentByteCount) / Double(totalByteCount)) : 1
        }
    }

    /// The progress so far.
    public typealias Element = Part
    /// Receives progress values.
    public typealias AsyncIterator = AsyncThrowingStream<Part, any Error>.Iterator

    private let parts: AsyncThrowingStream<Part, any Error>

    init(_ group: PeerGroup, _ file: URL, _ name: String, _ peer: PeerIdentity, _ hasDigest: Bool) {
        // Keep only the newest progress value.
        let (parts, continuation) = AsyncThrowingStream.makeStream(of: Part.self, bufferingPolicy: .bufferingNewest(1))
        let progress = group.sendFile(
            at: file, name: name, to: peer, hasDigest: hasDigest,
            progressed: { continuation.yield(Part(sentByteCount: $0, totalByteCount: $1)) },
            completion: { failure in
                if let failure { return continuation.finish(throwing: failure) }
                continuation.finish()
            })
        continuation.onTermination = { if case .cancelled = $0 { progress.cancel() } }
        self.parts = parts
    }

    /// Returns the iterator. The sequence is for one consumer.
    public func makeAsyncIterator() -> AsyncIterator { parts.makeAsyncIterator() }
}

extension PeerSession.Delivery {
    /// Returns whether a message of this size is sent as a datagram, which is sent at once or dropped. Any other
    /// message waits until the queue has space for it.
    func isDatagram(of byteCount: Int) -> Bool {
        switch self {
        case .datagram: byteCount <= PeerLimits.unreliableMessage
        case .reliable, .latest: false
        }
    }
}
