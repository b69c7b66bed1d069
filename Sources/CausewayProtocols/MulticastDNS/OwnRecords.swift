internal import CausewayWire

/// What this host answers with, by name. Records that several registrations have stand here once.
///
/// Most names have two records, both of one registration, whose array is here as well instead of a copy. A few have thousands: only those
/// pay for being found by content.
struct OwnRecords: Sendable {
    fileprivate struct Content: Hashable, Sendable {
        var data: DNSRecordData
        var type: DNSRecordType

        init(_ record: DNSRecord) { (data, type) = (record.data, record.type) }
    }

    /// What several registrations have under one name.
    fileprivate struct Common: Sendable {
        /// Names with more records keep ``places``.
        static let searchedCount = 8

        var records: [DNSRecord] = []
        /// By place: how many registrations have a record beside the first.
        var moreHolders: [Int: Int] = [:]
        var places: [Content: Int] = [:]
    }

    /// Of larger registrations nothing is shared: each look at a name goes through the whole of one.
    private static let sharedCount = 16

    /// All records of the one registration that has a name, those of its other names too.
    private var single: [DNSName: [DNSRecord]] = [:]
    private var common: [DNSName: Common] = [:]

    subscript(name: DNSName) -> [DNSRecord] {
        if let records = single[name] { return records.filter { $0.name == name } }
        return common[name]?.records ?? []
    }

    func holds(_ name: DNSName) -> Bool { single[name] != nil || common[name] != nil }

    /// The own record that says the same, if there is one.
    func held(_ record: DNSRecord) -> DNSRecord? {
        let found: DNSRecord?
        if let records = single[record.name] {
            found = records.first { $0.type == record.type && $0.data == record.data && $0.name == record.name }
        } else if let name = common[record.name] {
            found = name.place(of: record).map { name.records[$0] }
        } else {
            return nil
        }
        return found?.recordClass == record.recordClass ? found : nil
    }

    /// Adds all records of a registration.
    mutating func add(_ records: [DNSRecord]) {
        let mayShare = records.count <= Self.sharedCount
        for (index, record) in records.enumerated() {
            if mayShare, records[..<index].contains(where: { $0.name == record.name }) { continue }
            let name = record.name
            let own = mayShare ? records.filter { $0.name == name } : [record]
            if mayShare, !holds(name), Set(own.map(Content.init)).count == own.count {
                single[name] = records
            } else {
                let others = single.removeValue(forKey: name)?.filter { $0.name == name } ?? []
                for record in others + own { common[name, default: Common()].add(record) }
            }
        }
    }

    /// Removes all records of a registration.
    mutating func remove(_ records: [DNSRecord]) {
        for record in records {
            if let own = single[record.name] {
                let left = own.filter { $0.name == record.name && !records.contains($0) }
                single[record.name] = left.isEmpty ? nil : left
            } else {
                common[record.name]?.remove(record)
                if common[record.name]?.records.isEmpty == true { common[record.name] = nil }
            }
        }
    }
}

extension OwnRecords.Common {
    func place(of record: DNSRecord) -> Int? {
        guard places.isEmpty else { return places[OwnRecords.Content(record)] }
        return records.firstIndex { $0.type == record.type && $0.data == record.data }
    }

    fileprivate mutating func add(_ record: DNSRecord) {
        if let place = place(of: record) {
            moreHolders[place, default: 0] += 1
            return
        }
        records.append(record)
        if !places.isEmpty {
            places[OwnRecords.Content(record)] = records.count - 1
        } else if records.count > Self.searchedCount {
            for (place, record) in records.enumerated() { places[OwnRecords.Content(record)] = place }
        }
    }

    fileprivate mutating func remove(_ record: DNSRecord) {
        guard let place = place(of: record) else { return }
        if let more = moreHolders[place] {
            moreHolders[place] = more > 1 ? more - 1 : nil
            return
        }
        let last = records.count - 1
        places[OwnRecords.Content(record)] = nil
        if place != last {
            records[place] = records[last]
            moreHolders[place] = moreHolders.removeValue(forKey: last)
            if !places.isEmpty { places[OwnRecords.Content(records[place])] = place }
        }
        records.removeLast()
    }
}
