internal import CausewayProtocols
internal import CausewayTypes
internal import CausewayWire

/// A connection of an engine, for any HTTP version. All methods may be called from any thread.
protocol HTTPConnection: AnyObject, Sendable {
    /// Starts to establish the connection. The observer is retained until the connection is closed.
    func open()
    /// Sends a request and delivers its response. The end of the exchange is reported with either
    /// ``HTTPConnectionObserver/finished(_:isReusable:_:)`` or ``HTTPConnectionObserver/closed(_:)``. If the connection has already reported
    /// that it is closed, only ``HTTPConnectionObserver/interrupted(_:_:_:)`` follows.
    func perform(_ exchange: HTTPExchange)
    /// Resumes reading after ``HTTPExchange/room()`` was 0.
    func readerHasRoom(_ exchange: HTTPExchange)
    /// Stops work on an exchange that the engine has ended, for example after a timeout. Has no effect if the connection does not carry
    /// this exchange.
    func abandon(_ exchange: HTTPExchange)
    /// Closes the connection, or cancels the attempt to establish it.
    func close()
}

/// Receives the events of connections. The events of one connection arrive in order. No lock of the connection is held during a call.
protocol HTTPConnectionObserver: AnyObject, Sendable {
    /// The current time, for timeouts.
    var now: Duration { get }
    func connected(_ id: PoolConnectionID, _ facts: PoolConnectionFacts)
    func connectFailed(_ id: PoolConnectionID, _ error: NWError)
    /// Reports that an exchange ended. The connection can carry another request if `isReusable` is `true`.
    func finished(_ id: PoolConnectionID, isReusable: Bool, _ keepAlive: KeepAlive)
    /// Reports that a response is complete. The call precedes ``HTTPExchange/finished(_:)``.
    func completed(_ exchange: HTTPExchange)
    /// Reports that an exchange cannot be sent or was given up, and must not be sent again.
    func failed(_ exchange: HTTPExchange, _ failure: HTTPFailure)
    /// Reports that the connection is closed and must not be used for further requests.
    func closed(_ id: PoolConnectionID)
    /// Reports that the connection ended before the response to an exchange was complete.
    func interrupted(_ exchange: HTTPExchange, _ failure: HTTP1Failure?, _ error: NWError?)
}
