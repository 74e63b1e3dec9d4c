#include "baton/ir/analysis/kinds.h"

#include <gtest/gtest.h>

#include "baton/support/error.h"

namespace baton {
namespace {

class Kinds : public ::testing::Test {
 protected:
  Kinds() {
    const GlobalTypeVar header = module->global_type_var("List");
    const TypeVar a = type_var("A");
    const Type self = type_call(Type(header), {Type(a)});
    module->set_type(type_data(header, {a}, {{"Cons", {Type(a), self}}, {"Nil", {}}}));
  }
  const IRModule module = make_module();
  const Type number = scalar_type(DType::int_(32));
  const Type shape = Type(type_var("s", Kind::kShapeVar));

  Type list(std::vector<Type> args) {
    return type_call(Type(module->global_type_var("List")), std::move(args));
  }
  std::string fault(const Type& type) {
    try {
      kind_of(type, *module);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  std::string fault(const TypeData& type) {
    try {
      kind_of(*type, *module);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(Kinds, OfWellKindedTypes) {
  for (const Type& type : {number, tuple_type({number, list({number})}), ref_type(number), incomplete_type(),
                           func_type({number}, list({list({number})})), list({number}), Type(type_var("T"))})
    EXPECT_EQ(kind_of(type, *module), Kind::kType) << type_text(type);
  EXPECT_EQ(kind_of(shape, *module), Kind::kShapeVar);
  EXPECT_EQ(kind_of(Type(module->global_type_var("List")), *module), Kind::kAdtHandle);
  EXPECT_EQ(kind_of(*module->find_type("List"), *module), Kind::kTypeData);
}

TEST_F(Kinds, PartsMustBeTypes) {
  const Type handle = Type(module->global_type_var("List"));
  for (const Type& bad :
       {shape, handle, Type(type_var("c", Kind::kConstraint)), Type(type_var("b", Kind::kBaseType))})
    for (const Type& type :
         {tuple_type({number, bad}), ref_type(bad), func_type({bad}, number), func_type({number}, bad),
          list({bad}), tuple_type({func_type({}, tuple_type({bad}))})})
      EXPECT_NE(fault(type).find("but "), std::string::npos) << type_text(type);
  EXPECT_EQ(fault(tuple_type({shape})), "type s is of kind ShapeVar, but a field of (s,) is of kind Type");
}

TEST_F(Kinds, DataTypesAndTheirArguments) {
  EXPECT_EQ(fault(list({})), "data type List takes 1 argument, got 0: List[]");
  EXPECT_EQ(fault(list({number, number})), "data type List takes 1 argument, got 2: List[int32, int32]");
  EXPECT_EQ(fault(type_call(Type(global_type_var("Tree")), {})),
            "there is no data type Tree in the module: Tree[]");
  EXPECT_NE(fault(type_call(number, {number})).find("int32 is no data type"), std::string::npos);
  EXPECT_NE(fault(type_call(Type(type_var("T")), {number})).find("T is no data type"), std::string::npos);
  EXPECT_NE(fault(type_call(Type(global_type_var("List", Kind::kType)), {number})).find("no data type"),
            std::string::npos);
}

TEST_F(Kinds, Definitions) {
  const GlobalTypeVar tree = global_type_var("Tree");
  const TypeVar a = type_var("A"), size = type_var("n", Kind::kShapeVar);
  const Type self = type_call(Type(tree), {Type(a)});
  EXPECT_EQ(fault(type_data(tree, {a}, {{"Rose", {Type(a), list({self})}}})),
            "");  // it is not in the module yet
  EXPECT_NE(fault(type_data(tree, {size}, {})).find("ShapeVar"), std::string::npos);
  EXPECT_NE(fault(type_data(tree, {a}, {{"Rose", {Type(tree)}}})).find("AdtHandle"), std::string::npos);
  EXPECT_NE(fault(type_data(tree, {a}, {{"Rose", {type_call(Type(tree), {})}}})).find("takes 1 argument"),
            std::string::npos);
  EXPECT_NE(fault(type_data(global_type_var("T", Kind::kType), {}, {})).find("not AdtHandle"),
            std::string::npos);
  const Constructor other =
      make_ref<const ConstructorNode>("Leaf", std::vector<Type>(), global_type_var("Other"), 0);
  EXPECT_NE(fault(make_ref<const TypeDataNode>(tree, std::vector<TypeVar>(), std::vector<Constructor>{other}))
                .find("belongs to Other"),
            std::string::npos);
}

}  // namespace
}  // namespace baton
