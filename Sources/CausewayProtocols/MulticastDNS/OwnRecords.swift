internal import CausewayWire

/// What this host answers with, by name. Records that several registrations have stand here once.
///
/// Most names have two records, and a few have thousands: only those pay for being found by content.
struct OwnRecords: Sendable {
    fileprivate struct Content: Hashable, Sendable {
        var data: DNSRecordData
        var type: DNSRecordType

        init(_ record: DNSRecord) { (data, type) = (record.data, record.type) }
    }

    fileprivate struct Name: Sendable {
        /// Names with more records keep ``places``.
        static let searchedCount = 8

        var records: [DNSRecord] = []
        /// By place: how many registrations have a record beside the first.
        var moreHolders: [Int: Int] = [:]
        var places: [Content: Int] = [:]
    }

    private var names: [DNSName: Name] = [:]
    private(set) var count = 0

    subscript(name: DNSName) -> [DNSRecord] { names[name]?.records ?? [] }

    func holds(_ name: DNSName) -> Bool { names[name] != nil }

    /// The own record that says the same, if there is one.
    func held(_ record: DNSRecord) -> DNSRecord? {
        guard let name = names[record.name], let place = name.place(of: record),
            name.records[place].recordClass == record.recordClass
        else { return nil }
        return name.records[place]
    }

    mutating func add(_ records: [DNSRecord]) {
        for record in records where names[record.name, default: Name()].add(record) { count += 1 }
    }

    mutating func remove(_ records: [DNSRecord]) {
        for record in records {
            if names[record.name]?.remove(record) == true { count -= 1 }
            if names[record.name]?.records.isEmpty == true { names[record.name] = nil }
        }
    }
}

extension OwnRecords.Name {
    func place(of record: DNSRecord) -> Int? {
        guard places.isEmpty else { return places[OwnRecords.Content(record)] }
        return records.firstIndex { $0.type == record.type && $0.data == record.data }
    }

    /// Returns whether the record is new.
    fileprivate mutating func add(_ record: DNSRecord) -> Bool {
        if let place = place(of: record) {
            moreHolders[place, default: 0] += 1
            return false
        }
        records.append(record)
        if !places.isEmpty {
            places[OwnRecords.Content(record)] = records.count - 1
        } else if records.count > Self.searchedCount {
            for (place, record) in records.enumerated() { places[OwnRecords.Content(record)] = place }
        }
        return true
    }

    /// Returns whether it was the last of its kind.
    fileprivate mutating func remove(_ record: DNSRecord) -> Bool {
        guard let place = place(of: record) else { return false }
        if let more = moreHolders[place] {
            moreHolders[place] = more > 1 ? more - 1 : nil
            return false
        }
        let last = records.count - 1
        places[OwnRecords.Content(record)] = nil
        if place != last {
            records[place] = records[last]
            moreHolders[place] = moreHolders.removeValue(forKey: last)
            if !places.isEmpty { places[OwnRecords.Content(records[place])] = place }
        }
        records.removeLast()
        return true
    }
}
