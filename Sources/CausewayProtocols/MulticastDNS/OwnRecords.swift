internal import CausewayWire

/// What this host answers with, by name. Records that several registrations have stand here once.
struct OwnRecords: Sendable {
    fileprivate struct Content: Hashable, Sendable {
        var type: DNSRecordType
        var data: DNSRecordData
    }

    fileprivate struct Name: Sendable {
        var records: [DNSRecord] = []
        /// How many registrations have each record.
        var holders: [Int] = []
        var places: [Content: Int] = [:]
    }

    private var names: [DNSName: Name] = [:]
    private(set) var count = 0

    subscript(name: DNSName) -> [DNSRecord] { names[name]?.records ?? [] }

    func holds(_ name: DNSName) -> Bool { names[name] != nil }

    /// The own record that says the same, if there is one.
    func held(_ record: DNSRecord) -> DNSRecord? {
        guard let name = names[record.name], let place = name.places[Content(type: record.type, data: record.data)],
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
    /// Returns whether the record is new.
    fileprivate mutating func add(_ record: DNSRecord) -> Bool {
        let content = OwnRecords.Content(type: record.type, data: record.data)
        if let place = places[content] {
            holders[place] += 1
            return false
        }
        places[content] = records.count
        records.append(record)
        holders.append(1)
        return true
    }

    /// Returns whether it was the last of its kind.
    fileprivate mutating func remove(_ record: DNSRecord) -> Bool {
        let content = OwnRecords.Content(type: record.type, data: record.data)
        guard let place = places[content] else { return false }
        holders[place] -= 1
        guard holders[place] == 0 else { return false }
        places[content] = nil
        let last = records.count - 1
        if place != last {
            records[place] = records[last]
            holders[place] = holders[last]
            places[OwnRecords.Content(type: records[place].type, data: records[place].data)] = place
        }
        records.removeLast()
        holders.removeLast()
        return true
    }
}
