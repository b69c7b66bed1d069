internal import Foundation

/// Requests with the usual methods. Two forms return a value: a typed one, whose value is decoded from JSON, and one
/// with a ``ResponseSerializer``. A third form, for calls that name no type, returns the response with its bytes.
/// ``HTTPClient/send(_:as:progress:)`` returns a value together with the status and the header fields.
extension HTTPClient {
    /// Gets a JSON value.
    ///
    /// Cancellation: throws `CancellationError`. Other callers that share the response are not affected.
    public func get<Value: Decodable & Sendable>(
        _ path: RequestPath, query: RequestParameters = [:], headers: [String: String] = [:],
        as type: Value.Type = Value.self
    ) async throws -> Value {
        try await decoded("GET", path, query, headers, .none)
    }

    /// Gets a value made by a serializer.
    ///
    /// Cancellation: throws `CancellationError`. Other callers that share the response are not affected.
    public func get<Value: Sendable>(
        _ path: RequestPath, query: RequestParameters = [:], headers: [String: String] = [:],
        as serializer: ResponseSerializer<Value>
    ) async throws -> Value {
        try await value("GET", path, query, headers, .none, serializer)
    }

    /// Requests a resource's header fields.
    ///
    /// Cancellation: throws `CancellationError`. Other callers that share the response are not affected.
    @discardableResult
    public func head(
        _ path: RequestPath, query: RequestParameters = [:], headers: [String: String] = [:]
    ) async throws -> ClientResponse<Void> {
        var request = ClientRequest("HEAD", path, query: query)
        request.headers = headers
        return try await send(request, as: .none)
    }

    /// Posts content and decodes the response from JSON.
    ///
    /// Cancellation: throws `CancellationError`. The server may have handled the request.
    public func post<Value: Decodable & Sendable>(
        _ path: RequestPath, body: RequestBody = .none, query: RequestParameters = [:], headers: [String: String] = [:],
        as type: Value.Type = Value.self
    ) async throws -> Value {
        try await decoded("POST", path, query, headers, body)
    }

    /// Posts content.
    ///
    /// Cancellation: throws `CancellationError`. The server may have handled the request.
    @discardableResult
    public func post<Value: Sendable>(
        _ path: RequestPath, body: RequestBody = .none, query: RequestParameters = [:], headers: [String: String] = [:],
        as serializer: ResponseSerializer<Value>
    ) async throws -> Value {
        try await value("POST", path, query, headers, body, serializer)
    }

    /// Puts content and decodes the response from JSON.
    ///
    /// Cancellation: throws `CancellationError`. The server may have handled the request.
    public func put<Value: Decodable & Sendable>(
        _ path: RequestPath, body: RequestBody = .none, query: RequestParameters = [:], headers: [String: String] = [:],
        as type: Value.Type = Value.self
    ) async throws -> Value {
        try await decoded("PUT", path, query, headers, body)
    }

    /// Puts content.
    ///
    /// Cancellation: throws `CancellationError`. The server may have handled the request.
    @discardableResult
    public func put<Value: Sendable>(
        _ path: RequestPath, body: RequestBody = .none, query: RequestParameters = [:], headers: [String: String] = [:],
        as serializer: ResponseSerializer<Value>
    ) async throws -> Value {
        try await value("PUT", path, query, headers, body, serializer)
    }

    /// Patches a resource and decodes the response from JSON.
    ///
    /// Cancellation: throws `CancellationError`. The server may have handled the request.
    public func patch<Value: Decodable & Sendable>(
        _ path: RequestPath, body: RequestBody = .none, query: RequestParameters = [:], headers: [String: String] = [:],
        as type: Value.Type = Value.self
    ) async throws -> Value {
        try await decoded("PATCH", path, query, headers, body)
    }

    /// Patches a resource.
    ///
    /// Cancellation: throws `CancellationError`. The server may have handled the request.
    @discardableResult
    public func patch<Value: Sendable>(
        _ path: RequestPath, body: RequestBody = .none, query: RequestParameters = [:], headers: [String: String] = [:],
        as serializer: ResponseSerializer<Value>
    ) async throws -> Value {
        try await value("PATCH", path, query, headers, body, serializer)
    }

    /// Deletes a resource and decodes the response from JSON.
    ///
    /// Cancellation: throws `CancellationError`. The server may have handled the request.
    public func delete<Value: Decodable & Sendable>(
        _ path: RequestPath, query: RequestParameters = [:], headers: [String: String] = [:],
        as type: Value.Type = Value.self
    ) async throws -> Value {
        try await decoded("DELETE", path, query, headers, .none)
    }

    /// Deletes a resource.
    ///
    /// Cancellation: throws `CancellationError`. The server may have handled the request.
    @discardableResult
    public func delete<Value: Sendable>(
        _ path: RequestPath, query: RequestParameters = [:], headers: [String: String] = [:],
        as serializer: ResponseSerializer<Value>
    ) async throws -> Value {
        try await value("DELETE", path, query, headers, .none, serializer)
    }

    private func value<Value: Sendable>(
        _ method: String, _ path: RequestPath, _ query: RequestParameters, _ headers: [String: String],
        _ body: RequestBody, _ serializer: ResponseSerializer<Value>
    ) async throws -> Value {
        let prepared = try prepare(method, path, query, headers, body, accept: serializer.types.acceptField)
        return try value(of: try await answered(prepared), serializer)
    }

    /// Like ``value(_:_:_:_:_:_:)`` with a JSON serializer, but without the cost of creating a serializer for each
    /// call.
    private func decoded<Value: Decodable & Sendable>(
        _ method: String, _ path: RequestPath, _ query: RequestParameters, _ headers: [String: String],
        _ body: RequestBody
    ) async throws -> Value {
        let types = MediaTypeSet.json
        let answered = try await answered(
            try prepare(method, path, query, headers, body, accept: types.acceptField))
        let value: Value
        do {
            try types.validate(answered.received, statuses: 200..<300)
            value = try configuration.decoder.decode(Value.self, from: answered.exchange.content)
        } catch {
            throw failed(answered, error)
        }
        succeeded(answered)
        return value
    }
}
