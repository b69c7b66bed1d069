public import Foundation

/// Requests with the usual methods, for calls that name no type of value. The status must be 200 to 299. The content is
/// returned as bytes, for every media type.
///
/// ```swift
/// try await client.delete("users/2")
/// let page = try await client.get("users")
/// print(page.status, page.value.count)
/// ```
///
/// A call whose result has another type, such as `let users: [User] = try await client.get("users")`, decodes JSON.
extension HTTPClient {
    /// Gets a response with its content as bytes.
    ///
    /// Cancellation: throws `CancellationError`. Other callers that share the response are not affected.
    @discardableResult
    public func get(
        _ path: RequestPath, query: RequestParameters = [:], headers: [String: String] = [:]
    ) async throws -> ClientResponse<Data> {
        try await response("GET", path, query, headers, .none)
    }

    /// Posts content and returns the response with its content as bytes.
    ///
    /// Cancellation: throws `CancellationError`. The server may have handled the request.
    @discardableResult
    public func post(
        _ path: RequestPath, body: RequestBody = .none, query: RequestParameters = [:], headers: [String: String] = [:]
    ) async throws -> ClientResponse<Data> {
        try await response("POST", path, query, headers, body)
    }

    /// Puts content and returns the response with its content as bytes.
    ///
    /// Cancellation: throws `CancellationError`. The server may have handled the request.
    @discardableResult
    public func put(
        _ path: RequestPath, body: RequestBody = .none, query: RequestParameters = [:], headers: [String: String] = [:]
    ) async throws -> ClientResponse<Data> {
        try await response("PUT", path, query, headers, body)
    }

    /// Patches a resource and returns the response with its content as bytes.
    ///
    /// Cancellation: throws `CancellationError`. The server may have handled the request.
    @discardableResult
    public func patch(
        _ path: RequestPath, body: RequestBody = .none, query: RequestParameters = [:], headers: [String: String] = [:]
    ) async throws -> ClientResponse<Data> {
        try await response("PATCH", path, query, headers, body)
    }

    /// Deletes a resource and returns the response with its content as bytes.
    ///
    /// Cancellation: throws `CancellationError`. The server may have handled the request.
    @discardableResult
    public func delete(
        _ path: RequestPath, query: RequestParameters = [:], headers: [String: String] = [:]
    ) async throws -> ClientResponse<Data> {
        try await response("DELETE", path, query, headers, .none)
    }

    /// Sends a request and returns the response with its content as bytes.
    private func response(
        _ method: String, _ path: RequestPath, _ query: RequestParameters, _ headers: [String: String],
        _ body: RequestBody
    ) async throws -> ClientResponse<Data> {
        let serializer = ResponseSerializer<Data>.data
        let prepared = try prepare(method, path, query, headers, body, accept: serializer.types.acceptField)
        let answered = try await answered(prepared)
        let content = try value(of: answered, serializer)
        return ClientResponse(value: content, http: answered.response, attempts: answered.exchange.attempts)
    }
}
