package import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire
internal import FoundationEssentials

/// An association with a SOCKS 5 proxy that relays datagrams (RFC 1928 §7). The association lasts as long as its TCP
/// control connection.
///
/// Confined to a loop, except for ``cancel()``. Releasing the association also cancels it.
final class RelayAssociation: DatagramRelay {
    private struct Progress {
        var handshake: SOCKSHandshake?
        /// Bytes from the proxy that the handshake has not consumed yet.
        var unparsed = ByteChain()
        var opened: RelayOpened?
        var ended: (@Sendable (Failure) -> Void)?
        var end: Failure?
        var timer: TimerID?
    }

    /// The maximum number of bytes per read from the proxy. It is enough for the longest SOCKS reply, which has 262
    /// bytes.
    private static let readLength = 512

    private let credential: TunnelCredential?
    private let limit: Duration
    private let loop: any EventLoop
    private let control: ConnectionDriver
    private let progress: LoopBound<Progress>

    init(
        _ proxy: Connector.Target, _ credential: TunnelCredential?, _ settings: SocketSettings,
        on loop: any EventLoop, resolver: any NameResolver
    ) {
        self.credential = credential
        limit = settings.handshakeLimit
        self.loop = loop
        control = ConnectionDriver(
            .connect(proxy, resolver: resolver), FrozenSettings(settings.forRelayControl), loop: loop)
        progress = LoopBound(Progress(), to: loop)
    }

    deinit { cancel() }

    /// How the control connection was established, or how it failed.
    var facts: EstablishmentFacts { control.establishment ?? control.defeat ?? EstablishmentFacts() }

    func begin(_ opened: @escaping RelayOpened) {
        progress.value.opened = opened
        control.start(on: nil, observer: RelayControlObserver(self))
    }

    /// Calls `ended` when the proxy stops relaying, or at once if it has already stopped. Call this on the loop, once.
    func watch(_ ended: @escaping @Sendable (Failure) -> Void) {
        if let end = progress.value.end { return ended(end) }
        progress.value.ended = ended
    }

    func permits(_ address: SocketAddress) -> Bool {
        proxy.map { RelayPlace.permits(address, of: $0) } ?? false
    }

    /// Closes the control connection. May be called from any thread. A callback that is already running may still be
    /// delivered afterwards.
    func cancel() { control.cancel(.graceful, observer: RelayControlObserver(nil)) }

    // MARK: The connection to the proxy

    fileprivate func controlChanged(to state: ConnectionDriver.State) {
        switch state {
        case .ready: loop.execute { self.ask() }
        // End the association even if the control connection only waits for the network. The connection that uses the
        // relay then decides whether to try again.
        case .waiting(let failure), .failed(let failure): loop.execute { self.end(with: failure) }
        case .setup, .preparing, .cancelled: break
        }
    }

    private func ask() {
        guard progress.value.end == nil, let proxy else { return end(with: .tunnelBroken) }
        let handshake = SOCKSHandshake(associatingOverIPv6: proxy.family == .ipv6, credential: credential)
        progress.value.handshake = handshake
        progress.value.timer = loop.schedule(after: limit) { [weak self] in self?.end(with: .tunnelTimedOut) }
        send(handshake.greeting)
        receiveNext()
    }

    private var proxy: SocketAddress? { control.flow.addresses?.remote?.unmapped }

    private func send(_ bytes: [UInt8]) { control.flow.send(Outbound(Data(bytes), waiter: .unobserved)) }

    private func receiveNext() {
        let completion: ReceiveCompletion = { [weak self] content in
            guard let self else { return }
            let content = content.kept
            loop.execute { self.received(content) }
        }
        control.flow.request(.channel(completion)) { queue in
            queue.demand(minimum: 1, maximum: Self.readLength)
        }
    }

    private func received(_ content: ReceivedContent) {
        guard progress.value.end == nil else { return }
        if let data = content.data { take([UInt8](data)) }
        if let error = content.error { return end(with: error) }
        // When the proxy closes the control connection, it also ends the UDP association (RFC 1928 §7).
        if content.isFinal { return end(with: Failure(errno: Errno.connectionReset)) }
        if progress.value.end == nil { receiveNext() }
    }

    /// Processes bytes from the proxy. Ignores bytes that arrive after the association is complete.
    private func take(_ bytes: [UInt8]) {
        guard progress.value.opened != nil, var handshake = progress.value.handshake else { return }
        var unparsed = progress.value.unparsed
        unparsed.append(bytes)
        parsing: while true {
            switch handshake.received(&unparsed) {
            case .wait: break parsing
            case .send(let answer): send(answer)
            case .failed(let failure): return end(with: failure)
            case .open: return open(handshake.bound)
            }
        }
        (progress.value.handshake, progress.value.unparsed) = (handshake, unparsed)
    }

    private func open(_ bound: TunnelDestination?) {
        guard let proxy, let bound, let relay = RelayPlace.target(bound, of: proxy) else {
            return end(with: .tunnelBroken)
        }
        stopTimer()
        progress.value.opened.take()?(.success(relay))
    }

    private func end(with failure: Failure) {
        guard progress.value.end == nil else { return }
        progress.value.end = failure
        stopTimer()
        let (opened, ended) = (progress.value.opened.take(), progress.value.ended.take())
        cancel()
        opened?(.failure(failure))
        ended?(failure)
    }

    private func stopTimer() {
        if let timer = progress.value.timer.take() { loop.cancel(timer) }
    }
}

extension RelayRequest {
    /// Requests a relay from a SOCKS 5 proxy (RFC 1928 §7).
    package init(proxy: Connector.Target, credential: TunnelCredential?) {
        self.init(proxy) { settings, loop, resolver in
            RelayAssociation(proxy, credential, settings, on: loop, resolver: resolver)
        }
    }
}

/// Observes the control connection of a relay association. The observer does not retain the association.
private final class RelayControlObserver: ConnectionObserver {
    private weak let association: RelayAssociation?

    init(_ association: RelayAssociation?) { self.association = association }

    var wantsPathReports: Bool { false }
    func connectionChanged(to state: ConnectionDriver.State) { association?.controlChanged(to: state) }
    func connectionPathChanged(_ reports: PathTracker.Reports) {}
    func connectionReleased() {}
}

/// Computes a relay's address from a proxy's reply.
enum RelayPlace {
    /// Whether a relay can have this address.
    ///
    /// A proxy on another host must not direct datagrams to services on this host. For the same reason, the unspecified
    /// address is not permitted: the kernel delivers its datagrams to this host.
    static func permits(_ place: SocketAddress, of proxy: SocketAddress) -> Bool {
        let place = place.unmapped
        return !place.isMulticast && !place.isWildcard && (!place.isLoopback || proxy.isLoopback)
    }

    /// Returns the address to which the datagrams are sent. Returns `nil` if no relay can have the address that the
    /// proxy returned.
    ///
    /// If the proxy returned a name, its addresses are checked when the name is resolved.
    static func target(_ bound: TunnelDestination, of proxy: SocketAddress) -> Connector.Target? {
        guard bound.port != 0, proxy.family != .unix else { return nil }
        switch bound.host {
        case .name(let name): return .name(name, port: bound.port, interface: nil)
        case .address(let address) where address.isUnspecified:
            return .addresses([proxy.with(port: bound.port)])
        case .address(let address):
            let place = SocketAddress(address, port: bound.port).unmapped
            guard permits(place, of: proxy) else { return nil }
            // If the proxy's reply contains a link-local address, the address belongs to the link over which this host
            // reaches the proxy. So use the scope of that link.
            guard address.isLinkLocal, case .ipv6(_, _, _, let scope) = proxy else { return .addresses([place]) }
            return .addresses([place.with(port: bound.port, scope: scope)])
        }
    }
}

extension SocketSettings {
    /// Settings for the control connection to the proxy. The control connection has the same path constraints as the
    /// datagrams. Keepalive probes detect a vanished proxy.
    fileprivate var forRelayControl: SocketSettings {
        var control = self
        control.transport = .tcp
        control.reuseLocalAddress = false
        // The required local port applies to the datagrams, not to the control connection.
        control.localAddress = localAddress?.with(port: 0)
        control.tcp.keepalive = Keepalive(idleSeconds: 60, intervalSeconds: 15, count: 4)
        return control
    }
}
