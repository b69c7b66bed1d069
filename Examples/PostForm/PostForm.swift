// Shows a form that is sent while the program goes on, with callbacks: swift run PostForm http://127.0.0.1:8080/users
import CausewayURLLoading
import Foundation

/// Collects the answer. All calls arrive on the delegate queue of the session, the main queue here.
final class Receiver: NSObject, URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        print("status", (response as? HTTPURLResponse)?.statusCode ?? 0)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        print(String(decoding: data, as: UTF8.self))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let error { print("failed:", error.localizedDescription) }
        exit(error == nil ? 0 : 1)
    }
}

@main
enum PostForm {
    static func main() {
        guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]), url.host != nil else {
            print("usage: PostForm URL")
            exit(64)
        }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data("name=Ann&age=7".utf8)
        let session = URLSession(configuration: .default, delegate: Receiver(), delegateQueue: .main)
        session.dataTask(with: request).resume()
        print("the request is on its way; the program goes on")
        RunLoop.main.run()
    }
}
