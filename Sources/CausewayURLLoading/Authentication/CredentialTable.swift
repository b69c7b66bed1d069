internal import Causeway
internal import CausewayWire
internal import Foundation

/// The credentials in a storage, grouped by protection space.
struct CredentialTable: Sendable {
    struct Entry: Sendable {
        var credentials: [String: URLCredential] = [:]
        var defaultUser: String?
    }

    private(set) var entries: [URLProtectionSpace: Entry] = [:]
    /// The protection spaces whose credentials have changed since they were last saved; `nil` if credentials are kept
    /// only in memory.
    private var changes: Set<URLProtectionSpace>?
    /// Whether the saved credentials have been read. Always `true` if credentials are kept only in memory.
    private(set) var isLoaded: Bool

    /// - Parameter hasFile: Whether the credential storage also saves its credentials outside of this process.
    init(hasFile: Bool = false) {
        changes = hasFile ? [] : nil
        isLoaded = !hasFile
    }

    /// Returns the default credential for a protection space.
    func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
        entries[space].flatMap { entry in entry.defaultUser.flatMap { entry.credentials[$0] } }
    }

    /// Stores a credential that has a user name. The credential becomes the default if `asDefault` is `true` or if the
    /// protection space has no default. Returns whether the table changed.
    mutating func store(_ credential: URLCredential, for space: URLProtectionSpace, asDefault: Bool) -> Bool {
        guard credential.persistence != .none, let user = credential.user else { return false }
        let old = entries[space]
        entries[space, default: Entry()].credentials[user] = credential
        if asDefault || old?.defaultUser == nil { entries[space]?.defaultUser = user }
        guard old?.credentials[user] != credential || entries[space]?.defaultUser != old?.defaultUser else {
            return false
        }
        changes?.insert(space)
        return true
    }

    /// Removes a credential. Returns whether it was stored.
    mutating func remove(_ credential: URLCredential, for space: URLProtectionSpace) -> Bool {
        guard let user = credential.user, entries[space]?.credentials[user] == credential else { return false }
        entries[space]?.credentials[user] = nil
        if entries[space]?.defaultUser == user { entries[space]?.defaultUser = nil }
        if entries[space]?.credentials.isEmpty == true { entries[space] = nil }
        changes?.insert(space)
        return true
    }

    /// Removes all credentials. Returns whether there were any.
    mutating func removeAll() -> Bool {
        guard !entries.isEmpty else { return false }
        changes?.formUnion(entries.keys)
        entries = [:]
        return true
    }
}

// MARK: The file

extension CredentialTable {
    /// The permanent credentials to save, by changed protection space.
    typealias Changes = [URLProtectionSpace: Entry]

    private static let kind = "causeway credentials 1"

    /// Adds the saved credentials. Credentials that the program has stored before take precedence.
    mutating func load(_ file: [URLProtectionSpace: Entry]) {
        guard !isLoaded else { return }
        isLoaded = true
        for space in changes ?? [] {
            guard let saved = file[space] else { continue }
            var entry = entries[space] ?? Entry()
            entry.credentials.merge(saved.credentials) { known, _ in known }
            entry.defaultUser = entry.defaultUser ?? saved.defaultUser
            entries[space] = entry
        }
        adopt(file)
    }

    /// Returns the changes to write and clears them.
    mutating func takeChanges() -> Changes {
        guard let spaces = changes, !spaces.isEmpty else { return [:] }
        changes = []
        return Changes(uniqueKeysWithValues: spaces.map { ($0, Self.permanent(entries[$0] ?? Entry())) })
    }

    /// Marks changes as unwritten again, after their write failed. The next write then includes them.
    mutating func restore(_ taken: Changes) { changes?.formUnion(taken.keys) }

    /// Replaces the permanent credentials with those in the file. Protection spaces with unwritten changes keep their
    /// credentials.
    mutating func adopt(_ file: [URLProtectionSpace: Entry]) {
        for space in Set(file.keys).union(entries.keys) where changes?.contains(space) != true {
            var entry = file[space] ?? Entry()
            let known = entries[space] ?? Entry()
            entry.credentials.merge(known.credentials.filter { $0.value.persistence == .forSession }) { $1 }
            if let user = known.defaultUser, entry.credentials[user] != nil { entry.defaultUser = user }
            entries[space] = entry.credentials.isEmpty ? nil : entry
        }
    }

    private static func permanent(_ entry: Entry) -> Entry {
        var kept = entry
        kept.credentials = entry.credentials.filter { $0.value.persistence != .forSession }
        if let user = kept.defaultUser, kept.credentials[user] == nil { kept.defaultUser = nil }
        return kept
    }

    static func merge(_ file: [URLProtectionSpace: Entry], with changes: Changes) -> [URLProtectionSpace: Entry] {
        file.merging(changes) { $1 }.filter { !$0.value.credentials.isEmpty }
    }

    static func encode(_ entries: [URLProtectionSpace: Entry]) -> [UInt8] {
        let records = entries.flatMap { space, entry in
            entry.credentials.compactMap { user, credential -> [[UInt8]]? in
                guard let password = credential.password else { return nil }
                func optional(_ text: String?) -> String { text.map { "+" + $0 } ?? "-" }
                return [
                    space.host, "\(space.port)", optional(space.protocol), optional(space.proxyType),
                    optional(space.realm), space.authenticationMethod, user, password,
                    "\(credential.persistence.rawValue)", entry.defaultUser == user ? "default" : "",
                ].map { Array($0.utf8) }
            }
        }
        return RecordFile.encode(kind: kind, records)
    }

    /// Decodes a file and returns its valid credentials.
    static func decode(_ file: [UInt8]) -> [URLProtectionSpace: Entry] {
        var entries: [URLProtectionSpace: Entry] = [:]
        for record in RecordFile.decode(kind: kind, file) {
            let fields = record.map { String(decoding: $0, as: UTF8.self) }
            guard fields.count == 10, let space = space(fields), let number = UInt(digits: fields[8]),
                let persistence = URLCredential.Persistence(rawValue: number),
                persistence == .permanent || persistence == .synchronizable
            else { continue }
            entries[space, default: Entry()].credentials[fields[6]] = URLCredential(
                user: fields[6], password: fields[7], persistence: persistence)
            if fields[9] == "default" { entries[space]?.defaultUser = fields[6] }
        }
        return entries
    }

    private static func space(_ fields: [String]) -> URLProtectionSpace? {
        func optional(_ text: String) -> String? { text.first == "+" ? String(text.dropFirst()) : nil }
        guard let port = UInt16(digits: fields[1]).map({ Int($0) }), !fields[0].isEmpty else { return nil }
        if let type = optional(fields[3]) {
            return URLProtectionSpace(
                proxyHost: fields[0], port: port, type: type, realm: optional(fields[4]),
                authenticationMethod: fields[5])
        }
        return URLProtectionSpace(
            host: fields[0], port: port, protocol: optional(fields[2]), realm: optional(fields[4]),
            authenticationMethod: fields[5])
    }
}
