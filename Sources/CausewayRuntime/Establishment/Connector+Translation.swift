internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

/// IPv4 hosts from a network of IPv6 alone: behind a translator they have IPv6 addresses, which are made here (RFC 6052). Under which
/// prefix, the routers say (RFC 8781), which counts first, or the DNS (RFC 7050).
///
/// Only a race that was lost for want of any IPv4 route comes here, so a network that has both pays nothing.
extension Connector {
    /// Finds the translator's prefix, once. Returns whether the race goes on, at once or when the DNS has answered.
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
        // Routers repeat themselves: what they say is heard from the first time on that somebody needs it.
        AdvertisedTranslators.shared.listen()
        guard advertised.isEmpty else {
            race(stranded, through: advertised)
            return true
        }
        // The last dot: domains of resolv.conf are not added.
        var request = NameRequest("\(TranslationPrefix.wellKnownName).", families: [.ipv6])
        request.scope = progress.settings.resolutionScope
        // Another network has another translator: what one of them answered is not remembered for the other (RFC 7050 §3).
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

    /// The address that packets to the rest of the world would carry; `nil` without a way there.
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
            // A router may have spoken while the DNS was asked.
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
    /// No attempt found a way to begin.
    fileprivate var lacksRoute: Bool {
        domain == .posix
            && [Errno.networkUnreachable, Errno.addressNotAvailable, Errno.networkDown].contains(code)
    }
}

extension InternetAddress {
    /// What hosts of one link have in common.
    fileprivate var networkNumber: UInt64 {
        switch self {
        case .ipv4: 0
        case .ipv6(let address): address.high
        }
    }
}
