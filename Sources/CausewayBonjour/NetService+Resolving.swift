internal import Causeway
internal import CausewayRuntime
internal import CausewayStreams
internal import CausewaySystem
internal import CausewayWire
public import Foundation

extension NetService {
    /// Resolves the service with a timeout of 5 seconds.
    @available(*, deprecated, message: "Use resolve(withTimeout:).")
    public func resolve() { resolve(withTimeout: 5) }

    /// Looks up the host, port and addresses of the service. The delegate is called when all of these are found, and
    /// again when they change.
    ///
    /// Counterpart: `resolve(withTimeout:)`, macOS 10.4, iOS 2.
    ///
    /// - Parameter timeout: Time in seconds after which the lookup stops, with `timeoutError` if nothing was found; 0 for no limit.
    public func resolve(withTimeout timeout: TimeInterval) {
        guard activity.current == nil else { return fail(.activityInProgress) }
        guard let instance = instanceName(name), timeout >= 0, timeout < 1e9 else { return fail(.badArgumentError) }
        events.add { service, _ in service.value.delegate?.netServiceWillResolve(service.value) }
        let (events, number) = (events, activity.number)
        let lookup = ServiceLookup(instance, wants: .place) { place in
            events.add { service, _ in
                if service.value.activity.number == number { service.value.found(place) }
            }
        }
        activity.current = .resolving(lookup)
        lookup.begin()
        guard timeout > 0 else { return }
        lookup.end(after: .milliseconds(Int64(timeout * 1_000))) {
            events.add { service, _ in
                if service.value.activity.number == number { service.value.timeIsUp() }
            }
        }
    }

    private func fail(_ code: ErrorCode) {
        events.add { service, _ in
            service.value.delegate?.netService(service.value, didNotResolve: Self.dictionary(code))
        }
    }

    private func found(_ place: ServiceLookup.Place) {
        if let text = place.text { textRecord = Data(text) }
        guard let host = place.host, !place.addresses.isEmpty else { return }
        hostName = host.description
        port = Int(place.port)
        addresses = place.addresses.compactMap { $0.kernelBytes.map { Data($0) } }
        delegate?.netServiceDidResolveAddress(self)
    }

    private func timeIsUp() {
        end()
        if addresses == nil { delegate?.netService(self, didNotResolve: Self.dictionary(.timeoutError)) }
    }

    /// Returns the full name for an instance label in the service's type and domain; `nil` if a part is invalid.
    func instanceName(_ label: String) -> DNSName? {
        guard let place = DNSName(domain.isEmpty ? "local" : domain), !place.isRoot,
            (1...63).contains(label.utf8.count), let parsed = try? DNSServiceType(browsing: type),
            let parent = parsed.name.appending(place)
        else { return nil }
        return DNSName(label, in: parent)
    }

    /// Creates streams to the service, which need not be resolved. Opening either stream starts the connection.
    ///
    /// Counterpart: `getInputStream(_:outputStream:)`, macOS 10.2, iOS 2.
    ///
    /// - Returns: Whether the streams were created; `false` for services over UDP.
    @discardableResult
    public func getInputStream(
        _ inputStream: UnsafeMutablePointer<InputStream?>?, outputStream: UnsafeMutablePointer<OutputStream?>?
    ) -> Bool {
        guard let endpoint = streamEndpoint else { return false }
        let (input, output) = Stream.streams(to: endpoint)
        inputStream?.pointee = input
        outputStream?.pointee = output
        return true
    }
}
