internal import CausewayRuntime
public import Foundation

extension NetService {
    /// Returns the TXT record that was set or found; `nil` if unknown.
    ///
    /// Counterpart: `txtRecordData()`, macOS 10.4, iOS 2.
    public func txtRecordData() -> Data? { textRecord }

    /// Sets the TXT record. A published service announces the change immediately.
    ///
    /// - Returns: `false` if the data is not a valid TXT record (RFC 6763 §6.1).
    @discardableResult
    public func setTXTRecord(_ recordData: Data?) -> Bool {
        let bytes = recordData.map { [UInt8]($0) } ?? []
        guard Self.entries(bytes) != nil, bytes.count <= Self.longestRecord else { return false }
        textRecord = recordData
        if case .publishing(let registration?, _) = activity.current {
            BonjourEngine.shared.update(registration, text: bytes)
        }
        return true
    }

    /// Maximum size in bytes of a TXT record that fits in one multicast DNS message (RFC 6763 §6.1).
    private static let longestRecord = 8_900

    /// Reports the TXT record to the delegate when it is received and each time it changes, until ``stopMonitoring()`` is called.
    ///
    /// Counterpart: `startMonitoring()`, macOS 10.4, iOS 2.
    public func startMonitoring() {
        guard monitor == nil, let instance = instanceName(name) else { return }
        let events = events
        let lookup = ServiceLookup(instance, wants: .text) { place in
            guard let text = place.text else { return }
            events.add { service, _ in service.value.heard(Data(text)) }
        }
        monitor = lookup
        lookup.begin()
    }

    /// Ends ``startMonitoring()``: later TXT records are not reported.
    ///
    /// Counterpart: `stopMonitoring()`, macOS 10.4, iOS 2.
    public func stopMonitoring() { monitor.take()?.end() }

    private func heard(_ text: Data) {
        guard monitor != nil else { return }
        textRecord = text
        delegate?.netService(self, didUpdateTXTRecord: text)
    }

    // MARK: Entries

    /// Parses the entries of a TXT record. If a key occurs more than once, the first entry is used (RFC 6763 §6.4). A key without a value
    /// has an empty value.
    ///
    /// Counterpart: `dictionary(fromTXTRecord:)`, macOS 10.4, iOS 2.
    public class func dictionary(fromTXTRecord txtData: Data) -> [String: Data] {
        var result: [String: Data] = [:]
        for entry in entries([UInt8](txtData)) ?? [] {
            let parts = entry.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let key = String(decoding: parts[0], as: UTF8.self)
            if !key.isEmpty, result[key] == nil { result[key] = Data(parts.count > 1 ? parts[1] : []) }
        }
        return result
    }

    /// Creates a TXT record from entries. Returns empty data if an entry has more than 255 bytes or an invalid key (RFC 6763 §6.4).
    ///
    /// Counterpart: `data(fromTXTRecord:)`, macOS 10.4, iOS 2.
    public class func data(fromTXTRecord txtDictionary: [String: Data]) -> Data {
        var result = Data()
        for (key, value) in txtDictionary.sorted(by: { $0.key < $1.key }) {
            let entry = Data(key.utf8) + [UInt8(ascii: "=")] + value
            let isKey = !key.isEmpty && key.utf8.allSatisfy { (0x20...0x7e).contains($0) && $0 != UInt8(ascii: "=") }
            guard isKey, let length = UInt8(exactly: entry.count) else { return Data() }
            result.append(length)
            result.append(entry)
        }
        return result
    }

    /// Splits a record into its entries. Returns `nil` if an entry extends past the end.
    private static func entries(_ bytes: [UInt8]) -> [ArraySlice<UInt8>]? {
        var rest = bytes[...]
        var entries: [ArraySlice<UInt8>] = []
        while let length = rest.popFirst() {
            guard rest.count >= Int(length) else { return nil }
            if length > 0 { entries.append(rest.prefix(Int(length))) }
            rest = rest.dropFirst(Int(length))
        }
        return entries
    }
}
