internal import Causeway
internal import Foundation

/// The stored settings of a background session.
///
/// While the program is not running, `nw transfers` creates the session from these settings.
struct SessionRecord: Equatable, Sendable {
    static let name = "session"

    var identifier: String
    /// The name of the program whose cookies and credentials are used.
    var program: String
    /// The highest task identifier so far.
    var lastIdentifier = 0
    /// Whether the stored values describe the session completely. A session's own proxies, cookie storage and
    /// credential storage cannot be stored.
    var isComplete: Bool
    /// The cache policy. It also decides which cache fields the requests contain.
    private var cachePolicy: UInt
    private var timeouts: Timeouts
    private var access: Access
    private var transport: Transport
    private var http: HTTP
    private var stores: Stores

    init(_ settings: SessionSettings, program: String) {
        identifier = settings.background.identifier ?? ""
        self.program = program
        cachePolicy = settings.cachePolicy.rawValue
        timeouts = Timeouts(settings.timeouts)
        access = Access(settings.access)
        transport = Transport(settings.transport)
        http = HTTP(settings.http)
        stores = Stores(settings.stores)
        isComplete = Transport.describes(settings.transport) && Stores.describes(settings.stores)
    }

    /// Returns the settings, with the program's cookies and credentials.
    ///
    /// - Parameter directory: The directory of the program's stores; `nil` if it has none.
    func settings(stores directory: String?) -> SessionSettings {
        var settings = SessionSettings()
        settings.background.identifier = identifier
        settings.cachePolicy = NSURLRequest.CachePolicy(rawValue: cachePolicy) ?? .useProtocolCachePolicy
        settings.timeouts = timeouts.settings
        settings.access = access.settings
        settings.transport = transport.settings
        settings.http = http.settings
        if let directory { settings.stores = stores.opened(in: directory) }
        return settings
    }
}

extension SessionRecord: Codable {
    private enum CodingKeys: CodingKey { case identifier, program, lastIdentifier, isComplete, cachePolicy }

    /// Reads the record of a session. Parts such as `Timeouts` are not nested: their values are in the same dictionary
    /// as the other values. A value that older records lack is optional.
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        identifier = try values.decode(String.self, forKey: .identifier)
        program = try values.decode(String.self, forKey: .program)
        lastIdentifier = try values.decode(Int.self, forKey: .lastIdentifier)
        isComplete = try values.decode(Bool.self, forKey: .isComplete)
        cachePolicy = try values.decodeIfPresent(UInt.self, forKey: .cachePolicy) ?? 0
        timeouts = try Timeouts(from: decoder)
        access = try Access(from: decoder)
        transport = try Transport(from: decoder)
        http = try HTTP(from: decoder)
        stores = try Stores(from: decoder)
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(identifier, forKey: .identifier)
        try values.encode(program, forKey: .program)
        try values.encode(lastIdentifier, forKey: .lastIdentifier)
        try values.encode(isComplete, forKey: .isComplete)
        try values.encode(cachePolicy, forKey: .cachePolicy)
        for part in [timeouts, access, transport, http, stores] as [any Encodable] { try part.encode(to: encoder) }
    }
}
