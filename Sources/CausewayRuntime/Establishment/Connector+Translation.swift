internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes
internal import CausewayWire

/// Connects to IPv4 hosts from an IPv6-only network that has an address translator (NAT64).
///
/// In such a network, each IPv4 host also has an IPv6 address. This code builds it from the host's IPv4 address and the
/// translator's prefix (RFC 6052). Router advertisements contain the prefix (RFC 8781). If they do not, the code gets
/// it from DNS (RFC 7050).
///
/// This code runs only after a race has failed because there is no IPv4 route. So it costs nothing in a network with
/// both address families.
extension Connector {
    /// The progress of address translation. A connector translates addresses at most once.
    enum Translation {
        case unused
        /// The DNS query for the NAT64 prefix is still pending. The first value contains the IPv4 addresses that need
        /// translation. `answers` contains the addresses that the query has returned so far.
        case searching([SocketAddress], answers: [SocketAddress])
        case done

        var hasBegun: Bool { if case .unused = self { false } else { true } }

        fileprivate mutating func found(_ addresses: [SocketAddress]) {
            guard case .searching(let stranded, let answers) = self else { return }
            self = .searching(stranded, answers: answers + addresses)
        }
    }

    /// Looks for the prefix of a NAT64 translator. This is done only once per race. Returns whether the race continues
    /// with translated addresses, now or after a DNS query.
    func translate() -> Bool {
        guard progress.phase.isRunning, !progress.translation.hasBegun, settings.ip.version != .v4,
            progress.failure?.lacksRoute == true
        else { return false }
        let interface = settings.requiredInterface?.name
        let stranded = progress.race.addresses.filter { $0.family == .ipv4 && !$0.isLoopback }
        guard !stranded.isEmpty,
            SourceAddress.toward(stranded, over: interface).allSatisfy({ $0 == nil }),
            let network = AddressTranslation.network(over: interface)
        else { return false }
        progress.translation = .searching(stranded, answers: [])
        // Subscribe to router advertisements only when a prefix is first needed. Routers repeat their advertisements,
        // so no earlier subscription is necessary.
        AdvertisedTranslators.shared.listen()
        guard advertised.isEmpty else {
            race(stranded, through: advertised)
            return true
        }
        // The trailing dot disables the search domains in resolv.conf.
        var request = NameRequest("\(TranslationPrefix.wellKnownName).", families: [.ipv6])
        request.scope = settings.resolutionScope
        request.partition = settings.resolution.partition ^ network
        if let events = resolver.known(request) {
            for event in events { heardOfTranslator(event) }
        } else {
            progress.lookup = resolver.resolve(request) { event in
                self.loop.execute { self.heardOfTranslator(event) }
            }
        }
        return true
    }

    private var advertised: [TranslationPrefix] {
        AdvertisedTranslators.shared.prefixes(over: settings.requiredInterface?.index)
    }

    private func heardOfTranslator(_ event: NameEvent) {
        guard progress.phase.isRunning else { return }
        switch event {
        case .found(let addresses, _, _): progress.translation.found(addresses)
        case .answered(let type, let answer, let origin): note(type, answer, origin)
        case .settled: break
        case .ended:
            progress.lookup = nil
            guard case .searching(let stranded, let found) = progress.translation else { return }
            let answers = found.compactMap { address -> IPv6Address? in
                if case .ipv6(let address) = address.internetAddress { address } else { nil }
            }
            let discovered = TranslationPrefix.discovered(in: answers)
            // If the DNS query found no prefix, use an advertised prefix: a router advertisement may have arrived
            // during the query.
            race(stranded, through: discovered.isEmpty ? advertised : discovered)
        }
    }

    private func race(_ stranded: [SocketAddress], through prefixes: [TranslationPrefix]) {
        progress.translation = .done
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
        progress.failure = nil
        progress.facts.firstAddress = nil
        perform(progress.race.givenInstead(made, at: System.now))
    }
}

extension Failure {
    /// Whether the attempt had no route or no local address.
    fileprivate var lacksRoute: Bool {
        domain == .posix
            && [Errno.networkUnreachable, Errno.addressNotAvailable, Errno.networkDown].contains(code)
    }
}
