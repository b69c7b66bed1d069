internal import Causeway
internal import Foundation

/// The stored settings of a background session, from which `nw transfers` creates a session while the program is not running.
struct SessionRecord: Codable, Equatable, Sendable {
    static let name = "session"

    var identifier: String
    /// The program's name, whose cookies and credentials apply.
    var program: String
    /// The highest task identifier so far.
    var lastIdentifier = 0
    /// Whether the stored values describe the session completely. `URLProtocol` classes and proxies cannot be stored.
    var isComplete: Bool
    private var requestTimeout: Double
    private var resourceTimeout: Double
    private var accessOptions: UInt16
    private var isDiscretionary: Bool
    private var networkServiceType: UInt
    private var multipathServiceType: Int
    private var minimumTLSVersion: UInt16
    private var maximumTLSVersion: UInt16
    private var usesNoProxy: Bool
    private var setsCookies: Bool
    private var storesCookies: Bool
    private var cookiePolicy: UInt
    private var storesCredentials: Bool
    private var maximumConnections: Int
    private var fields: [String: String]

    init(_ settings: SessionSettings, program: String) {
        identifier = settings.background.identifier ?? ""
        self.program = program
        let stores = settings.stores
        let hasOwnStores =
            stores.cookies.map { $0 !== HTTPCookieStorage.shared } ?? false
            || stores.credentials.map { $0 !== URLCredentialStorage.shared } ?? false
        isComplete =
            !hasOwnStores && settings.transport.proxies.isEmpty && settings.transport.proxyDictionary?.isEmpty != false
        requestTimeout = settings.timeouts.request
        resourceTimeout = settings.timeouts.resource
        accessOptions = settings.access.options.rawValue
        isDiscretionary = settings.access.isDiscretionary
        networkServiceType = settings.access.networkServiceType.rawValue
        multipathServiceType = settings.access.multipathServiceType.rawValue
        minimumTLSVersion = settings.transport.minimumTLSVersion.rawValue
        maximumTLSVersion = settings.transport.maximumTLSVersion.rawValue
        usesNoProxy = settings.transport.proxyDictionary != nil
        setsCookies = settings.http.setsCookies
        storesCookies = stores.cookies != nil
        cookiePolicy = settings.http.cookieAcceptPolicy.rawValue
        storesCredentials = stores.credentials != nil
        maximumConnections = settings.http.maximumConnectionsPerHost
        fields = [:]
        for (name, value) in settings.http.additionalFields ?? [:] { fields["\(name)"] = "\(value)" }
    }

    /// Returns the settings, with the program's cookies and credentials.
    ///
    /// - Parameter directory: The directory of the program's stores; `nil` if it has none.
    func settings(stores directory: String?) -> SessionSettings {
        var settings = SessionSettings()
        settings.background.identifier = identifier
        settings.timeouts = SessionSettings.Timeouts(request: requestTimeout, resource: resourceTimeout)
        settings.access.options = RequestOptions(rawValue: accessOptions)
        settings.access.waitsForConnectivity = true
        settings.access.isDiscretionary = isDiscretionary
        settings.access.networkServiceType = NSURLRequest.NetworkServiceType(rawValue: networkServiceType) ?? .default
        settings.access.multipathServiceType =
            URLSessionConfiguration.MultipathServiceType(rawValue: multipathServiceType) ?? .none
        settings.transport.minimumTLSVersion = tls_protocol_version_t(rawValue: minimumTLSVersion) ?? .TLSv12
        settings.transport.maximumTLSVersion = tls_protocol_version_t(rawValue: maximumTLSVersion) ?? .TLSv13
        settings.transport.proxyDictionary = usesNoProxy ? [:] : nil
        settings.http.setsCookies = setsCookies
        settings.http.cookieAcceptPolicy = HTTPCookie.AcceptPolicy(rawValue: cookiePolicy) ?? .never
        settings.http.maximumConnectionsPerHost = min(max(maximumConnections, 1), 100)
        settings.http.additionalFields = fields
        if storesCookies, let directory { settings.stores.cookies = HTTPCookieStorage(directory: directory) }
        if storesCredentials, let directory { settings.stores.credentials = URLCredentialStorage(directory: directory) }
        return settings
    }
}
