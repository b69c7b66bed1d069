internal import CausewayWire

/// This host's DNS records for answers, by name. A record shared by several registrations is stored once.
///
/// Most names have two records, both from one registration. To save memory, such a name only refers to the
/// registration's ``RecordSet``. A few names have thousands of records. A name with many records has an index by
/// content.
struct OwnRecords: Sendable {
    fileprivate struct Content: Hashable, Sendable {
        var data: DNSRecordData
        var type: DNSRecordType

        init(_ record: DNSRecord) { (data, type) = (record.data, record.type) }
    }

    /// The records for one name. This type is used if the name has many records, or if several registrations contain
    /// the name. Such a name is not in ``single``.
    fileprivate struct Common: Sendable {
        /// Maximum number of records for linear search. With more records, the index ``places`` is used.
        static let searchedCount = 8

        var records: [DNSRecord] = []
        /// For the positions of shared records, the number of additional registrations that share the record. A record
        /// with only one registration has no entry.
        var moreHolders: [Int: Int] = [:]
        /// The positions of the records, with the hash of each record's content as the key. The table is empty if there
        /// are at most ``searchedCount`` records, because a linear search then finds a record.
        var places: [Int: UInt32] = [:]
        /// Whether two different records had the same hash. In this case, the hash index contains only one of them, and
        /// a linear search must find the other.
        var hasTwins = false
    }

    /// Maximum number of records in a ``RecordSet`` that is stored by reference. The number is small, because a lookup
    /// searches all records of the set.
    private static let sharedCount = 16

    /// The names that only one registration uses, each with the registration's records.
    private var single: [DNSName: RecordSet] = [:]
    private var common: [DNSName: Common] = [:]

    subscript(name: DNSName) -> [DNSRecord] {
        if let content = single[name] { return content.records.filter { $0.name == name } }
        return common[name]?.records ?? []
    }

    func holds(_ name: DNSName) -> Bool { single[name] != nil || common[name] != nil }

    /// Returns this host's record that equals `record` except for the TTL; `nil` if there is none.
    func held(_ record: DNSRecord) -> DNSRecord? {
        let found: DNSRecord?
        if let content = single[record.name] {
            found = content.records.first { $0.type == record.type && $0.data == record.data && $0.name == record.name }
        } else if let name = common[record.name] {
            found = name.place(of: record).map { name.records[$0] }
        } else {
            return nil
        }
        return found?.recordClass == record.recordClass ? found : nil
    }

    /// Whether several registrations share the record.
    func isShared(_ record: DNSRecord) -> Bool {
        guard let name = common[record.name], let place = name.place(of: record) else { return false }
        return name.moreHolders[place] != nil
    }

    /// Returns the records with which this host answers the questions.
    ///
    /// This host's own query must list these records as known answers. Otherwise other hosts would expect a response,
    /// receive none, and remove the records from their caches (RFC 6762 §10.5).
    func knownAnswers(to questions: [DNSQuestion]) -> [DNSRecord] {
        questions.flatMap { question in
            self[question.name].filter { question.matches($0) }.map { record in
                var record = record
                record.flushesCache = false
                return record
            }
        }
    }

    /// Adds a registration's records.
    mutating func add(_ content: RecordSet) {
        let records = content.records
        let mayShare = records.count <= Self.sharedCount
        for (index, record) in records.enumerated() {
            if mayShare, records[..<index].contains(where: { $0.name == record.name }) { continue }
            let name = record.name
            let own = mayShare ? records.filter { $0.name == name } : [record]
            if mayShare, !holds(name), Set(own.map(Content.init)).count == own.count {
                single[name] = content
            } else {
                let others = single.removeValue(forKey: name)?.records.filter { $0.name == name } ?? []
                for record in others + own { common[name, default: Common()].add(record) }
            }
        }
    }

    /// Removes a registration's records. `content` must be equal to the record set that was added for the registration.
    mutating func remove(_ content: RecordSet) {
        for record in content.records where single.removeValue(forKey: record.name) == nil {
            common[record.name]?.remove(record)
            if common[record.name]?.records.isEmpty == true { common[record.name] = nil }
        }
    }
}

extension OwnRecords.Common {
    func place(of record: DNSRecord) -> Int? {
        if !places.isEmpty {
            if let place = places[Self.hash(record)], Self.areSame(records[Int(place)], record) { return Int(place) }
            guard hasTwins else { return nil }
        }
        return records.firstIndex { Self.areSame($0, record) }
    }

    private static func areSame(_ one: DNSRecord, _ other: DNSRecord) -> Bool {
        one.type == other.type && one.data == other.data
    }

    private static func hash(_ record: DNSRecord) -> Int { OwnRecords.Content(record).hashValue }

    fileprivate mutating func add(_ record: DNSRecord) {
        if let place = place(of: record) {
            moreHolders[place, default: 0] += 1
            return
        }
        records.append(record)
        if !places.isEmpty {
            index(records.count - 1)
        } else if records.count > Self.searchedCount {
            for place in records.indices { index(place) }
        }
    }

    private mutating func index(_ place: Int) {
        let hash = Self.hash(records[place])
        if places[hash] == nil { places[hash] = UInt32(place) } else { hasTwins = true }
    }

    fileprivate mutating func remove(_ record: DNSRecord) {
        guard let place = place(of: record) else { return }
        if let more = moreHolders[place] {
            moreHolders[place] = more > 1 ? more - 1 : nil
            return
        }
        let last = records.count - 1
        move(place, to: nil)
        if place != last {
            move(last, to: place)
            records[place] = records[last]
            moreHolders[place] = moreHolders.removeValue(forKey: last)
        }
        records.removeLast()
    }

    /// Changes a record's position in the index. With `nil`, removes the record from the index.
    private mutating func move(_ place: Int, to new: Int?) {
        guard !places.isEmpty else { return }
        let hash = Self.hash(records[place])
        if places[hash] == UInt32(place) { places[hash] = new.map { UInt32($0) } }
    }
}
