internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire

/// Hears what routers say about translators (RFC 8781), from the first time on that a connection found no way to an IPv4 host.
///
/// The kernel passes such words on and does not keep them, so what was said before is not known. Hosts with IPv4 never listen.
final class AdvertisedTranslators: ReadinessHandler {
    /// The process's, of the network namespace in which it was first needed.
    static let shared = AdvertisedTranslators()

    private struct Feed: ~Copyable {
        var socket: NetlinkSocket
        var registration: Registration
    }

    private let loop = Engine.networkLoop
    private let feed = LockedValue<Feed?>(nil)
    private let heard = LockedValue(AdvertisedPrefixes())

    private init() {}

    /// Begins to listen, once. Where that is impossible now, the next one who asks tries again.
    func listen() {
        feed.withLock { feed in
            guard feed == nil, let socket = try? NetlinkSocket(groups: [.userOptions, .links], blocking: false),
                let registration = try? loop.register(socket.rawValue, for: .readable, self)
            else { return }
            feed = Feed(socket: socket, registration: registration)
        }
    }

    /// What holds now.
    ///
    /// - Parameter interfaceIndex: The only interface that counts; `nil` for all.
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
        let isNews = heard.withLock { heard in
            var isNews = false
            for message in messages {
                switch message {
                case .translatorPrefix(let word): isNews = heard.heard(word, at: System.now) || isNews
                case .link(let link), .linkRemoved(let link):
                    // The next network has routers of its own.
                    if !link.flags.isSuperset(of: [.up, .running]) { heard.forget(link.index) }
                default: continue
                }
            }
            return isNews
        }
        // Connections that wait for a way look again.
        if isNews { NetworkStateMonitor.shared.changed() }
    }
}
