internal import Dispatch
public import Foundation

/// A session with nearby peers: finds them, invites them, and exchanges messages, streams and files with members.
///
/// All traffic is encrypted, with TLS 1.3 or, for messages over UDP, with DTLS 1.2. Both sides prove their keys. If a
/// link breaks, the session tries for up to ten seconds to replace it. If this succeeds, no reliable message is lost.
/// Members connect to each other without a server: a session with `n` members has a link for each pair.
///
/// ```swift
/// let session = try PeerSession(as: .persistent(named: "Ann"), service: "abc-chat")
/// for try await event in session.events {
///     switch event {
///     case .found(let peer, _): Task { try await session.invite(peer) }
///     case .invited(let invite): invite.accept()
///     case .received(let message, let peer): print(peer.name, String(decoding: message, as: UTF8.self))
///     default: break
///     }
/// }
/// ```
///
/// All methods may be called from any task. When the session object is released, the local peer leaves the session.
///
/// Apple's counterpart is a session layer that programs write over `Network`; `MCSession` in MultipeerConnectivity is
/// deprecated.
public final class PeerSession: Sendable {
    /// The options of a session.
    public struct Options: Sendable {
        /// Whether other peers can find the local peer.
        public var advertises = true
        /// Whether the session browses for other peers.
        public var browses = true
        /// Advertised key-value pairs, visible to all hosts on the network: each at most 254 bytes, about 400 bytes in
        /// total.
        public var info: [String: String] = [:]
        /// Which peers are accepted. `nil` means ``PeerTrust/pinned`` with a persistent profile, ``PeerTrust/any`` with
        /// a rotating profile.
        public var trust: PeerTrust?
        /// The program's folder for incomplete incoming files; `nil` to remove incomplete files. At most 64 incomplete
        /// files are kept.
        ///
        /// A failed transfer can be continued, in this session or a later one. For this, the same peer must send a file
        /// with the same name and size again. The transfer then continues at the end of the incomplete file. The
        /// receiver compares the whole file's SHA-256 digest with the sender's digest.
        public var partialFiles: URL?

        /// Creates options for a session that advertises and browses, and advertises no pairs.
        public init() {}
    }

    /// The local peer's identity in this session.
    public let me: PeerIdentity
    package let group: PeerGroup
    let service: String
    let outcomes: Outcomes
    private let buffer: EventBuffer
    let translator: Translator
    private let advertisement: PeerAdvertisement?
    private let browse: PeerBrowse?

    /// Starts a session.
    ///
    /// - Parameters:
    ///   - profile: The local peer's identity.
    ///   - service: The program's service name, as in RFC 6335 §5.1: 1 to 15 letters, digits and hyphens, such as `abc-chat`.
    ///   - limit: Maximum number of members including the local peer, 2 to 32.
    ///   - options: The session's optional functions.
    /// - Throws: ``PeerFailure`` with `invalid` for a wrong argument, `file` if a key cannot be read or written, `unsupported` if OpenSSL
    ///   cannot be used.
    public convenience init(
        as profile: PeerProfile, service: String, limit: Int = 8, options: Options = Options()
    ) throws(PeerFailure) {
        guard Self.isValid(service) else {
            throw PeerFailure(.invalid, "'\(service)' is no service name: 1 to 15 of a-z, 0-9 and hyphens")
        }
        guard (2...32).contains(limit) else { throw PeerFailure(.invalid, "a session has 2 to 32 members") }
        let trust = options.trust ?? (profile.isPersistent ? .pinned : .any)
        let store = trust == .any ? nil : try PeerPinStore(service: service)
        let node = try PeerNode(try profile.local(), queueLimit: Self.queueLimit, trust, store)
        self.init(node, service, limit, options)
    }

    /// The number of queued message bytes per member at which ``send(_:to:as:)`` suspends.
    static let queueLimit = 4 << 20

    /// Starts a session on a node, for example on one to which a test gave other peers' addresses.
    package init(_ node: PeerNode, _ service: String, _ limit: Int, _ options: Options) {
        var settings = PeerGroup.Settings()
        settings.limit = limit
        settings.partialFiles = options.partialFiles
        let (buffer, outcomes) = (EventBuffer(), Outcomes())
        let translator = Translator(buffer, outcomes)
        // The translator converts the group's events to session events. It never blocks, so its queue may target the
        // node's queue.
        let queue = DispatchQueue(label: "causeway.peers.session", target: node.queue)
        let group = PeerGroup(node, settings, queue: queue) { translator.translate($0) }
        let place = WeakGroup(group: group)
        translator.group.withLock { $0 = place }
        advertisement =
            !options.advertises
            ? nil
            : node.advertise(service, info: options.info) { event in
                switch event {
                case .invited(let invitation):
                    buffer.add(
                        .invited(
                            PeerInvite(
                                peer: invitation.peer, context: invitation.context,
                                recognition: place.group?.recognition(of: invitation.peer) ?? .unknown,
                                invitation: invitation, group: place)))
                case .failed(let failure): buffer.finish(.failure(failure))
                case .started: break
                }
            }
        browse = !options.browses ? nil : node.browse(service) { translator.translate($0) }
        self.group = group
        self.service = service
        self.buffer = buffer
        self.translator = translator
        self.outcomes = outcomes
        me = node.local.peer
    }

    deinit {
        advertisement?.stop()
        browse?.stop()
        outcomes.end(PeerFailure(.cancelled))
        buffer.finish(.success(()))
    }

    package static func isValid(_ service: String) -> Bool {
        let bytes = service.utf8
        let isKnown = bytes.allSatisfy {
            ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A || $0 >= 0x30 && $0 <= 0x39 || $0 == 0x2D
        }
        return (1...15).contains(bytes.count) && isKnown && !service.hasPrefix("-") && !service.hasSuffix("-")
            && !service.contains("--") && bytes.contains { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A }
    }

    /// The connected members, without the local peer.
    public var peers: [PeerIdentity] { group.connectedPeers }

    /// The session's events, in order. The sequence is for one consumer: two consumers get different events.
    ///
    /// While the program does not take events, at most 4 MiB of messages from each member are buffered. The member then
    /// has to wait. If more than 2,048 discovery events wait, the events of each peer are merged. A peer that was found
    /// and lost in the meantime is then not reported, and only the newest 1,024 ``PeerEvent/refused(_:_:)`` events
    /// remain.
    ///
    /// The sequence ends when the session is released. It throws ``PeerFailure`` if the service cannot be advertised or
    /// browsed.
    ///
    /// Cancellation: the sequence ends; no event is lost, and a new iterator continues.
    public var events: Events { Events(buffer: buffer) }

    /// The sequence of events.
    public struct Events: AsyncSequence, Sendable {
        /// An event.
        public typealias Element = PeerEvent
        let buffer: EventBuffer

        /// Returns an iterator. All iterators for a session share its events.
        public func makeAsyncIterator() -> Iterator { Iterator(buffer: buffer) }

        /// Receives events.
        public struct Iterator: AsyncIteratorProtocol {
            let buffer: EventBuffer

            /// Waits for the next event. Returns `nil` at the end, and when the task is cancelled.
            nonisolated(nonsending) public mutating func next() async throws -> PeerEvent? { try await buffer.next() }

            /// Waits for the next event like ``next()``, in the caller's isolation.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> PeerEvent? {
                try await buffer.next()
            }
        }
    }

    /// Invites a found peer, and waits until it joined.
    ///
    /// Inviting a member has no effect. If both peers invite each other, either one can accept, and one link is made.
    ///
    /// - Parameters:
    ///   - peer: A found peer.
    ///   - context: Bytes with which the peer can decide about the invitation, at most 64 KiB.
    ///   - timeout: How long the peer may take to answer.
    /// - Throws: ``PeerFailure``, for example with `declined`, `timedOut`, `full` or `identityChanged`;
    ///   `invalid` for the local peer.
    ///
    /// Cancellation: the wait ends with `CancellationError`; the invitation itself ends at its timeout.
    public func invite(
        _ peer: PeerIdentity, context: Data? = nil, within timeout: Duration = .seconds(30)
    ) async throws {
        guard (context?.count ?? 0) <= 65_536 else {
            throw PeerFailure(.invalid, "the context has more than 64 KiB")
        }
        guard peer.id != me.id else { throw PeerFailure(.invalid, "a session cannot invite its own peer") }
        guard !peers.contains(peer) else { return }
        try await outcomes.wait(.membership(peer)) {
            group.invite(peer, service: service, context: context, timeout: timeout)
            // The peer may have joined before this task began to wait. No event would then end the wait, so end it
            // here.
            if peers.contains(peer) { outcomes.answer(.membership(peer), .success(nil)) }
        }
    }

    /// Leaves the session and notifies its members. The session still finds peers, and can invite and be invited again.
    public func leave() { group.leave() }
}
