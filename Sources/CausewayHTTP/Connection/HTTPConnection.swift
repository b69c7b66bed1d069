internal import CausewayProtocols
internal import CausewayTypes
internal import CausewayWire

/// One connection of an engine, of any version of HTTP. All methods may be called from any thread.
protocol HTTPConnection: AnyObject, Sendable {
    /// Starts to establish the connection. The observer is retained until the connection is closed.
    func open()
    /// Sends a request and delivers its response. For each call, either ``HTTPConnectionObserver/finished(_:isReusable:_:)`` or
    /// ``HTTPConnectionObserver/closed(_:)`` is called.
    func perform(_ exchange: HTTPExchange)
    /// Continues to read after ``HTTPExchange/room()`` was 0.
    func readerHasRoom(_ exchange: HTTPExchange)
    /// Stops an exchange that has ended.
    func abandon(_ exchange: HTTPExchange)
    /// Closes the connection, or stops establishing it.
    func close()
}

/// Gets the events of connections, in order for each connection, without a lock.
protocol HTTPConnectionObserver: AnyObject, Sendable {
    /// The time, for timeouts.
    var now: Duration { get }
    func connected(_ id: PoolConnectionID, _ facts: PoolConnectionFacts)
    func connectFailed(_ id: PoolConnectionID, _ error: NWError)
    /// An exchange ended. The connection can carry the next one if `isReusable`.
    func finished(_ id: PoolConnectionID, isReusable: Bool, _ keepAlive: KeepAlive)
    /// The connection is closed, and gets no further request.
    func closed(_ id: PoolConnectionID)
    /// The connection ended before the response to an exchange was complete.
    func interrupted(_ exchange: HTTPExchange, _ failure: HTTP1Failure?, _ error: NWError?)
}
