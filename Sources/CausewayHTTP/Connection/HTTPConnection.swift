internal import CausewayHTTPProtocols
internal import CausewayTypes
internal import CausewayWire

/// A connection of an engine, for any HTTP version. All methods may be called from any thread.
protocol HTTPConnection: AnyObject, Sendable {
    /// Starts reading. Call this when the transport is established or has begun to send early data. ``perform(_:)`` may
    /// be called earlier.
    func open()
    /// Handles a transport failure.
    func transportFailed(_ error: NWError)
    /// Sends a request and delivers its response. When the exchange has ended, the connection calls
    /// ``HTTPConnectionObserver/finished(_:isReusable:_:)``, or ``HTTPConnectionObserver/closed(_:)`` if the connection
    /// has ended too. If the connection was already reported as closed before this call, the request is not sent, and
    /// the connection only calls ``HTTPConnectionObserver/interrupted(_:_:_:)``.
    func perform(_ exchange: HTTPExchange)
    /// Resumes reading after ``HTTPExchange/room()`` was 0.
    func readerHasRoom(_ exchange: HTTPExchange)
    /// Applies ``HTTPExchange/priority``, which changed. Has no effect if the connection does not carry this exchange.
    func priorityChanged(_ exchange: HTTPExchange)
    /// Stops work on an exchange that the engine has ended, for example after a timeout. Has no effect if the connection does not carry
    /// this exchange.
    func abandon(_ exchange: HTTPExchange)
    /// Gives the connection to the exchange's observer in the middle of a response. The request must be completely
    /// sent, and the response must last until the connection ends. The result is reported with
    /// ``HTTPExchange/handedOver(_:at:)``. Has no effect if the connection does not carry this exchange, or if it is an
    /// HTTP/2 connection.
    func handOver(_ exchange: HTTPExchange)
    /// Closes the connection.
    func close()
}

/// Receives connection events. The events of one connection arrive in order. No connection lock is held during a call.
protocol HTTPConnectionObserver: AnyObject, Sendable {
    /// The current time, for timeouts.
    var now: Duration { get }
    /// Reports that there is no usable path for a connection attempt. The attempt continues when a path becomes usable.
    func waits(_ id: PoolConnectionID, _ reason: NWError)
    func connected(_ id: PoolConnectionID, _ connection: any HTTPConnection, _ facts: PoolConnectionFacts)
    /// Reports a connection whose transport is not established yet. If all requests that wait for this connection may
    /// be sent as early data, the connection takes these requests now, and the result is `true`. If not, or if no
    /// request waits for it, the call has no effect.
    func connectedEarly(_ id: PoolConnectionID, _ connection: any HTTPConnection, _ facts: PoolConnectionFacts) -> Bool
    func connectFailed(_ id: PoolConnectionID, _ error: NWError)
    /// Reports that an exchange ended. The connection can carry another request if `isReusable` is `true`.
    func finished(_ id: PoolConnectionID, isReusable: Bool, _ keepAlive: KeepAlive)
    /// Reports a new limit for concurrent exchanges.
    func streamLimitChanged(_ id: PoolConnectionID, to limit: Int)
    /// Reports that the connection accepts no more requests. The connection's exchanges continue.
    func retired(_ id: PoolConnectionID)
    /// Reports that a response is complete. The call precedes ``HTTPExchange/finished(_:)``.
    func completed(_ exchange: HTTPExchange)
    /// Reports that an exchange cannot be sent or was given up, and must not be sent again.
    func failed(_ exchange: HTTPExchange, _ failure: HTTPFailure)
    /// Reports that the connection is closed and must not be used for later requests.
    func closed(_ id: PoolConnectionID)
    /// Reports that an exchange ended before its response was complete. `occasion` is the kind of interruption. If it
    /// permits no retry, the request ends with `failure`.
    func interrupted(_ exchange: HTTPExchange, _ occasion: RetryOccasion, _ failure: HTTPFailure)
}
