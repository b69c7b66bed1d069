// Shows a JSON request and a JSON answer as values: swift run PostJSON http://127.0.0.1:8080/users
import CausewayURLLoading
import Foundation

struct User: Codable {
    var name: String
    var age: Int
}

@main
enum PostJSON {
    static func main() async throws {
        guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
            print("usage: PostJSON URL")
            exit(64)
        }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(User(name: "Ann", age: 7))
        let (data, response) = try await URLSession.shared.data(for: request)
        guard let answer = response as? HTTPURLResponse, 200..<300 ~= answer.statusCode else {
            print("the server refused the user")
            exit(1)
        }
        let stored = try JSONDecoder().decode(User.self, from: data)
        print("the server stored", stored.name)
    }
}
