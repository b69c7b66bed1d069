internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire

/// Receives NAT64 prefixes from router advertisements (RFC 8781), starting when a connection first finds no route to an
/// IPv4 host.
///
/// The kernel passes these prefixes to subscribers but does not store them, so prefixes from earlier advertisements are
/// not known. A host with IPv4 never subscribes.
final class AdvertisedTranslators: ReadinessHandler {
    /// The process's shared instance. It watches the network namespace in which it was first used.
    static let shared = AdvertisedTranslators()

    private struct Feed: ~Copyable {
        var socket: NetlinkSocket
        var registration: Registration
    }

    private let loop = Engine.networkLoop
    private let feed = LockedValue<Feed?>(nil)
    private let heard = LockedValue(AdvertisedPrefixes())

    private init() {}

    /// Subscribes to router advertisements. Later calls do nothing, unless the subscription has failed; then they try
    /// again.
    func listen() {
        feed.withLock { feed in
            guard feed == nil, let socket = try? NetlinkSocket(groups: [.userOptions, .links], blocking: false),
                let registration = try? loop.register(socket.rawValue, for: .readable, self)
            else { return }
            feed = Feed(socket: socket, registration: registration)
        }
    }

    /// Returns the currently valid prefixes.
    ///
    /// - Parameter interfaceIndex: The only interface to consider; `nil` for all interfaces.
    func prefixes(over interfaceIndex: Int? = nil) -> [TranslationPrefix] {
        heard.withLock { $0.prefixes(over: interfaceIndex, at: System.now) }
    }

    func ready(for readiness: Readiness) {
        var messages: [NetlinkMessage] = []
        feed.withLock { feed in
            guard feed != nil else { return }
            try? feed?.socket.drain { messages.append($0) }
            if let registration = feed?.registration, let number = feed?.socket.rawValue {
                loop.update(registration, number, for: .readable)
            }
        }
        let hasChanged = heard.withLock { heard in
            var hasChanged = false
            for message in messages {
                switch message {
                case .translatorPrefix(let word): hasChanged = heard.heard(word, at: System.now) || hasChanged
                case .link(let link), .linkRemoved(let link):
                    // An interface that is not running may next be on a network with other routers. So discard its
                    // prefixes.
                    if !link.flags.isSuperset(of: [.up, .running]) { heard.forget(link.index) }
                default: continue
                }
            }
            return hasChanged
        }
        // Make all connections that wait for a route check the network again.
        if hasChanged { NetworkStateMonitor.shared.changed() }
    }
}
