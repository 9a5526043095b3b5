// Which topic is a text about? The mean of the vectors of its words decides: EmbeddingBag and a linear layer (PyTorch's
// tutorial on AG_NEWS; Joulin et al., "Bag of tricks for efficient text classification", 2016). Texts of several
// lengths follow each other in one tensor, and offsets say where each begins. Here a text is made of invented
// sentences.
#include <cstdint>
#include <map>
#include <sstream>
#include <string>

#include "port.h"

namespace sn = sinter;
namespace nn = sinter::nn;

constexpr int64_t kBatch = 16, kSize = 16;
const std::vector<std::string> kTopics = {"sports", "business", "science"};
/// A word of its topic's list, or of the last one, which says nothing.
const std::vector<std::vector<std::string>> kWords = {
    {"match", "goal", "team", "coach", "season", "league", "win"},
    {"market", "shares", "bank", "profit", "price", "trade", "win"},
    {"cell", "orbit", "energy", "theory", "probe", "gene", "price"},
    {"the", "a", "of", "in", "new", "said", "after", "with", "for", "on"}};

/// Words to numbers; 0 is for words that are not known.
struct Vocabulary {
  Vocabulary() {
    for (const auto& list : kWords)
      for (const std::string& word : list) numbers.try_emplace(word, static_cast<int64_t>(numbers.size()) + 1);
  }
  std::vector<int64_t> encode(const std::string& text) const {
    std::vector<int64_t> codes;
    std::istringstream words(text);
    for (std::string word; words >> word;) codes.push_back(numbers.contains(word) ? numbers.at(word) : 0);
    return codes;
  }
  std::map<std::string, int64_t> numbers;
};

struct Batch {
  sn::Tensor words, offsets, topics;  ///< int64 [words of all texts], [texts], [texts]
};
/// Texts of 4 to 11 words; half of the words, or so, are of the topic.
Batch make_batch(const Vocabulary& vocabulary, int64_t texts) {
  const auto topics = sn::randint(0, 3, {texts}).to_vector<int64_t>();
  const auto lengths = sn::randint(4, 12, {texts}).to_vector<int64_t>();
  std::vector<int64_t> words, offsets;
  for (int64_t i = 0; i < texts; ++i) {
    const auto draws = sn::randint(0, 1 << 20, {lengths[i], 2}).to_vector<int64_t>();
    std::string text;
    for (size_t w = 0; w < draws.size(); w += 2) {
      const auto& list = kWords[draws[w] % 2 ? topics[i] : 3];
      text += list[draws[w + 1] % list.size()] + " ";
    }
    offsets.push_back(static_cast<int64_t>(words.size()));
    for (const int64_t code : vocabulary.encode(text)) words.push_back(code);
  }
  static const sn::Var count("words", 1, 200 * 12);  // one program for all lengths
  return {sn::from(words, {count(static_cast<int64_t>(words.size()))}), sn::from(offsets), sn::from(topics)};
}

struct TextClassifier {
  explicit TextClassifier(int64_t words) : embedding(words, kSize), fc(kSize, 3) {}
  nn::EmbeddingBag embedding;
  nn::Linear fc;
  SINTER_MODULE(embedding, fc)
  sn::Tensor operator()(const sn::Tensor& words, const sn::Tensor& offsets) const {
    return fc(embedding(words, offsets));
  }
};

int main(int argc, char** argv) {
  port::Run run(argc, argv, 1e-5);
  sn::manual_seed(0);
  const Vocabulary vocabulary;
  TextClassifier model(static_cast<int64_t>(vocabulary.numbers.size()) + 1);
  sn::optim::SGD optimizer(nn::parameters(model), {.lr = 1.0});
  sn::optim::LRScheduler schedule(optimizer, sn::optim::StepLR{.step_size = 50});
  for (int step = 1; step <= run.steps(6, 150); ++step) {
    const auto [words, offsets, topics] = make_batch(vocabulary, kBatch);
    const sn::Tensor loss = cross_entropy(model(words, offsets), topics);
    optimizer.zero_grad();
    loss.backward();
    nn::clip_grad_norm_(nn::parameters(model), 0.5);
    optimizer.step();
    schedule.step();
    run.log(step, 25, {{"loss", loss}});
  }
  if (!run.checking()) {
    sn::no_grad guard;
    const auto [words, offsets, topics] = make_batch(vocabulary, 200);
    const sn::Tensor right = model(words, offsets).argmax(1) == topics;
    std::printf("right answers %.1f %%\n", 100 * right.to(sn::float32).mean().item());
    const std::string text = "the probe in orbit said a new theory";
    const sn::Tensor answer = model(sn::from(vocabulary.encode(text)), sn::zeros({1}, sn::int64)).argmax();
    std::printf("\"%s\": %s\n", text.c_str(), kTopics[answer.item<int64_t>()].c_str());
  }
  return run.finish();
}
