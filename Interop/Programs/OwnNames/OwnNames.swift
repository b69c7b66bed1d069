/// A WebSocket type that another library declares.
public struct WebSocket {
    public let url: String

    public init(url: String) { self.url = url }
}

/// A library's own transport types. Many libraries use these names.
public enum TCP { case plain }
public enum UDP { case plain }
public enum TLS { case modern }
public struct Coder { public init() {} }
public struct Browser { public init() {} }
public struct Bonjour { public init() {} }
