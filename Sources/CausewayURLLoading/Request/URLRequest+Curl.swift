internal import CausewayHTTPProtocols
internal import Foundation

extension URLRequest {
    /// Returns the request as a curl command line for a POSIX shell, to repeat it by hand. Fields that a session adds are not included. A
    /// body stream's content is read from standard input.
    ///
    /// - Parameter showsSecrets: Whether to include the values of `Authorization`, `Proxy-Authorization` and `Cookie`. Otherwise they are
    ///   replaced, so that the text can be shared.
    public func curlCommand(showsSecrets: Bool = false) -> String {
        let content: CurlCommand.Content =
            switch values.body {
            case .none: .none
            case .data(let data): .bytes(Array(data))
            case .stream: .standardInput
            }
        return CurlCommand(
            method: values.method, target: values.url?.absoluteString ?? "", fields: values.unfoldedFields,
            content: content
        ).text(showsSecrets: showsSecrets)
    }
}
