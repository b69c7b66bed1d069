internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

/// Connects to IPv4 hosts from an IPv6-only network. Behind a translator (NAT64) these hosts have IPv6 addresses, which this code
/// synthesizes (RFC 6052). The prefix comes from router advertisements (RFC 8781), which take precedence, or from the DNS (RFC 7050).
///
/// This code runs only after a race has failed because there is no IPv4 route. A dual-stack network therefore has no extra cost.
extension Connector {
    /// Finds the translator's prefix, once. Returns whether the race continues, at once or after the DNS query.
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
        // Subscribe to router advertisements only when a prefix is first needed. Routers repeat the advertisements.
        AdvertisedTranslators.shared.listen()
        guard advertised.isEmpty else {
            race(stranded, through: advertised)
            return true
        }
        // The trailing dot disables the search domains of resolv.conf.
        var request = NameRequest("\(TranslationPrefix.wellKnownName).", families: [.ipv6])
        request.scope = progress.settings.resolutionScope
        // Each network has its own translator. Therefore do not reuse an answer that was cached on another network (RFC 7050 §3).
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

    /// Returns the source address of packets to the internet; `nil` if there is no route.
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
    /// Whether the failure means that there was no route or no local address for the attempt.
    fileprivate var lacksRoute: Bool {
        domain == .posix
            && [Errno.networkUnreachable, Errno.addressNotAvailable, Errno.networkDown].contains(code)
    }
}

extension InternetAddress {
    /// The first 64 bits of an IPv6 address, which all hosts on one link share; 0 for IPv4.
    fileprivate var networkNumber: UInt64 {
        switch self {
        case .ipv4: 0
        case .ipv6(let address): address.high
        }
    }
}
