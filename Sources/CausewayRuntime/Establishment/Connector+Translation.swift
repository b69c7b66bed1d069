internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

/// Connects to IPv4 hosts from an IPv6-only network. Behind a translator (NAT64) these hosts have IPv6 addresses, which
/// this code synthesizes (RFC 6052). The prefix comes from router advertisements (RFC 8781), which take precedence, or
/// from DNS (RFC 7050).
///
/// This code runs only after a race has failed for lack of an IPv4 route, so a dual-stack network has no extra cost.
extension Connector {
    /// Finds the translator's prefix, once. Returns whether the race continues, either at once or after the DNS query.
    func translate() -> Bool {
        guard progress.completion != nil, !progress.isTranslated, progress.settings.ip.version != .v4,
            progress.failure?.lacksRoute == true
        else { return false }
        let interface = progress.settings.requiredInterface?.name
        let stranded = progress.addresses.filter { $0.family == .ipv4 && !$0.isLoopback }
        guard !stranded.isEmpty,
            SourceAddress.toward(stranded, over: interface).allSatisfy({ $0 == nil }),
            let source = Self.globalSource(over: interface)
        else { return false }
        progress.isTranslated = true
        // Subscribe to router advertisements only when a prefix is first needed. Routers repeat them.
        AdvertisedTranslators.shared.listen()
        guard advertised.isEmpty else {
            race(stranded, through: advertised)
            return true
        }
        // The trailing dot disables the search domains in resolv.conf.
        var request = NameRequest("\(TranslationPrefix.wellKnownName).", families: [.ipv6])
        request.scope = progress.settings.resolutionScope
        // Each network has its own translator, so do not reuse an answer cached on another network (RFC 7050 §3).
        request.partition = progress.settings.resolution.partition ^ source.networkNumber
        if let events = progress.resolver.known(request) {
            for event in events { heardOfTranslator(event, stranded) }
        } else {
            progress.resolution = progress.resolver.resolve(request) { event in
                self.loop.execute { self.heardOfTranslator(event, stranded) }
            }
        }
        return true
    }

    /// Returns the source address for packets to the internet; `nil` without a route.
    private static func globalSource(over interface: String?) -> InternetAddress? {
        let somewhere = SocketAddress.ipv6(high: 0x0064_FF9B_0000_0000, low: 0, port: 9, scope: 0)
        return SourceAddress.toward([somewhere], over: interface)[0]?.address
    }

    private var advertised: [TranslationPrefix] {
        AdvertisedTranslators.shared.prefixes(over: progress.settings.requiredInterface?.index)
    }

    private func heardOfTranslator(_ event: NameEvent, _ stranded: [SocketAddress]) {
        guard progress.completion != nil else { return }
        switch event {
        case .found(let addresses, _, _): progress.translatorAnswers += addresses
        case .answered(let type, let answer, let origin): note(type, answer, origin)
        case .settled: break
        case .ended:
            progress.resolution = nil
            let answers = progress.translatorAnswers.compactMap { address -> IPv6Address? in
                if case .ipv6(let address) = address.internetAddress { address } else { nil }
            }
            let discovered = TranslationPrefix.discovered(in: answers)
            // A router advertisement may have arrived during the DNS query.
            race(stranded, through: discovered.isEmpty ? advertised : discovered)
        }
    }

    private func race(_ stranded: [SocketAddress], through prefixes: [TranslationPrefix]) {
        var made: [SocketAddress] = []
        for prefix in prefixes {
            for address in stranded {
                guard case .ipv4(let host) = address.internetAddress, let translated = prefix.synthesize(host) else {
                    continue
                }
                made.append(SocketAddress(translated, port: address.port))
            }
        }
        guard !made.isEmpty else { return finish(.failure(progress.failure ?? Failure(errno: Errno.networkDown))) }
        progress.startedBefore += progress.race.startedCount
        progress.failure = nil
        progress.facts.firstAddress = nil
        progress.addresses = made
        progress.race = AddressRace(awaiting: [])
        perform(progress.race.given(made.count, at: System.now))
    }
}

extension Failure {
    /// Whether the attempt had no route or no local address.
    fileprivate var lacksRoute: Bool {
        domain == .posix
            && [Errno.networkUnreachable, Errno.addressNotAvailable, Errno.networkDown].contains(code)
    }
}

extension InternetAddress {
    /// An IPv6 address's first 64 bits, which all hosts on one link share; 0 for IPv4.
    fileprivate var networkNumber: UInt64 {
        switch self {
        case .ipv4: 0
        case .ipv6(let address): address.high
        }
    }
}
