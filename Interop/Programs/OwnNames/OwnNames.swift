/// A library's own WebSocket connection.
public struct WebSocket {
    public let url: String

    public init(url: String) { self.url = url }
}

/// A library's own transports, with names that many libraries use.
public enum TCP { case plain }
public enum UDP { case plain }
public enum TLS { case modern }
public struct Coder { public init() {} }
public struct Browser { public init() {} }
public struct Bonjour { public init() {} }
